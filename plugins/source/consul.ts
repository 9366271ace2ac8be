import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConfigSource,
  definePlugin,
  isObject,
  SourceConflict,
  type SourceRevision,
  type SourceSite,
  type SourceWrite,
} from '#contract';
import { demandParameters, keyIn } from './lib/address.ts';
import { demandSingle, fileNameOf, withMain } from './lib/files.ts';
import { jsonIn, StoreHttp, type StoreRequest, type StoreResponse, statusError } from './lib/http.ts';

/** Longest wait of a blocking query, in seconds. Consul adds up to a sixteenth. */
const WAIT_S = 300;

/** Time limit of a blocking query, in milliseconds. */
const WAIT_MS = (WAIT_S + WAIT_S / 16 + 10) * 1000;

/** Pause after a blocking query that returned no change, in milliseconds, in case the server does not wait. */
const PAUSE_MS = 1_000;

/** Parameters of the address that are passed to Consul. */
const PARAMETERS = ['dc', 'ns', 'partition'] as const;

/** Errors of operations that other writers have caused. Anything else, such as a missing permission, is a failure. */
const stale = /stale|exist/;

/**
 * Configurations in the key/value store of Consul. A key whose name ends like a configuration file is the configuration; any
 * other is a prefix, below which keys are files. Changes are noticed by blocking queries.
 */
export const plugin = definePlugin({
  name: 'source/consul',
  description: 'Reads the configuration of the gateway from the key/value store of Consul, and watches it.',
  configSources: {
    form: 'consul://HOST:8500/KEY, or consul+https:// for TLS',
    open: (site) => new Consul(site),
  },
});

/** A key in a response. */
interface Entry {
  readonly key: string;
  readonly content: Uint8Array;
  /** Index of the last write. */
  readonly index: number;
}

/** The keys of the configuration, and the index of the response, which also counts keys that were removed. */
interface Listing {
  readonly index: number;
  readonly entries: readonly Entry[];
}

class Consul implements ConfigSource {
  readonly #http: StoreHttp;
  readonly #url: URL;
  readonly #key: string;
  readonly #isFile: boolean;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ address, access, maxBytes }: SourceSite) {
    this.#key = keyIn(address);
    if (this.#key === '') throw new Error('the address of Consul needs a key: consul://HOST:8500/KEY');
    demandParameters(address, PARAMETERS);
    const secure = address.protocol === 'consul+https:';
    this.#url = new URL(`${secure ? 'https' : 'http'}://${address.hostname}:${address.port || 8500}${address.search}`);
    this.#isFile = fileNameOf(this.#key) === this.#key.split('/').at(-1);
    // Values are in Base64 there.
    this.#http = new StoreHttp(access, maxBytes * 2);
    const { username, password = '', token } = access;
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    this.#headers = {
      ...(token !== undefined && { 'x-consul-token': token }),
      ...(username !== undefined && { authorization: basic }),
    };
  }

  async read(signal: AbortSignal): Promise<SourceRevision | null> {
    const { index, entries } = await this.#list({}, signal);
    const start = this.#isFile ? this.#key.lastIndexOf('/') + 1 : this.#key.length + 1;
    const named = new Map(entries.map(({ key, content }) => [key.slice(start), content]));
    if (named.size === 0) return null;
    const files = this.#isFile ? named : withMain(named, `the prefix ${this.#key}/`)!;
    return { version: String(index), order: index, files };
  }

  async awaitChange(version: string | null, signal: AbortSignal): Promise<void> {
    // An index must be greater than 0: Consul does not wait for 0.
    let index = version === null ? 1 : Math.max(Number(version), 1);
    for (;;) {
      const query = { index: String(index), wait: `${WAIT_S}s` };
      const found = await this.#list(query, signal, WAIT_MS);
      const isAbsent = found.entries.length === 0;
      // An index that is smaller than before means that the server was restored: the caller reads the new index.
      if (version === null ? !isAbsent : found.index !== index) return;
      index = Math.max(found.index, 1);
      await delay(PAUSE_MS, undefined, { signal });
    }
  }

  async write({ files, expected }: SourceWrite, signal: AbortSignal): Promise<string> {
    if (this.#isFile) demandSingle(files);
    const { index, entries } = await this.#list({}, signal);
    const version = entries.length === 0 ? null : String(index);
    if (version !== expected) throw new SourceConflict(version);
    const kept = new Map([...files].map(([path, content]) => [this.#keyOf(path), content]));
    const present = new Map(entries.map(({ key, index }) => [key, index]));
    const operations = [
      ...[...kept].map(([Key, content]) => {
        // With the index 0, the key must not exist.
        return { Verb: 'cas', Key, Value: Buffer.from(content).toString('base64'), Index: present.get(Key) ?? 0 };
      }),
      ...[...present].filter(([key]) => !kept.has(key)).map(([Key, Index]) => ({ Verb: 'delete-cas', Key, Index })),
    ];
    const body = JSON.stringify(operations.map((KV) => ({ KV })));
    const response = await this.#send({ method: 'PUT', url: this.#at('/v1/txn'), body }, signal);
    if (response.status === 409) throw rejection(response);
    if (response.status !== 200) throw statusError(response);
    return String(lastIndexIn(response));
  }

  async close(): Promise<void> {}

  /** Reads the keys of the configuration. */
  async #list(query: Readonly<Record<string, string>>, signal: AbortSignal, timeoutMs?: number): Promise<Listing> {
    const path = this.#isFile ? this.#key : `${this.#key}/`;
    const url = this.#at(`/v1/kv/${path.split('/').map(encodeURIComponent).join('/')}`);
    if (!this.#isFile) url.searchParams.set('recurse', 'true');
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await this.#send({ url, ...(timeoutMs !== undefined && { timeoutMs }) }, signal);
    if (response.status !== 200 && response.status !== 404) throw statusError(response);
    const index = indexIn(response);
    return { index, entries: response.status === 404 ? [] : entriesIn(response) };
  }

  #at(path: string): URL {
    return new URL(`${path}${this.#url.search}`, this.#url);
  }

  #keyOf(path: string): string {
    return this.#isFile ? this.#key : `${this.#key}/${path}`;
  }

  #send(request: StoreRequest, signal: AbortSignal): Promise<StoreResponse> {
    return this.#http.send({ ...request, headers: this.#headers }, signal);
  }
}

/** @throws Error without a valid index, which a server that is not Consul does not send. */
function indexIn({ headers: { 'x-consul-index': text } }: StoreResponse): number {
  const index = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(index)) throw new Error('the response has no valid X-Consul-Index: is the server Consul?');
  return index;
}

/** @throws Error if the response does not have the form of Consul. */
function entriesIn({ body }: StoreResponse): Entry[] {
  const { list } = jsonIn({ body: Buffer.concat([Buffer.from('{"list":'), body, Buffer.from('}')]) });
  if (!Array.isArray(list)) throw new Error('the response is not a list of keys');
  return list.flatMap((each) => {
    const { Key: key, Value: value, ModifyIndex: index } = isObject(each) ? each : {};
    if (typeof key !== 'string' || typeof index !== 'number') throw new Error('the response is not a list of keys');
    // The user interface creates keys that end with a slash as folders.
    return key.endsWith('/') ? [] : [{ key, content: Buffer.from(String(value ?? ''), 'base64'), index }];
  });
}

/** Error for a transaction that was rolled back. */
function rejection(response: StoreResponse): Error {
  const { Errors: errors } = jsonIn(response);
  const reasons = (Array.isArray(errors) ? errors : []).map((each) => String(isObject(each) && each['What']));
  return reasons.some((reason) => stale.test(reason)) ? new SourceConflict(null) : statusError(response);
}

/** Index of a transaction. All keys that it wrote have the same. */
function lastIndexIn(response: StoreResponse): number {
  const { Results: results } = jsonIn(response);
  const [first] = Array.isArray(results) ? results : [];
  const index: unknown = first?.KV?.ModifyIndex;
  if (typeof index !== 'number') throw new Error('the response to the write has no index');
  return index;
}
