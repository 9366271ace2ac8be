import {
  type ConfigSource,
  definePlugin,
  SourceConflict,
  type SourceRevision,
  type SourceSite,
  type SourceWrite,
} from '#contract';
import { keyIn } from './lib/address.ts';
import { demandSingle, fileNameOf, withMain } from './lib/files.ts';
import { jsonIn, StoreHttp, type StoreResponse, statusError } from './lib/http.ts';

/** Maximum size of an event of a watch, in bytes: events have the values of changed keys. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/**
 * Configurations in etcd, version 3, by its JSON API. A key whose name ends like a configuration file is the configuration;
 * any other is a prefix, below which keys are files. Changes are watched from the revision that was read.
 */
export const plugin = definePlugin({
  name: 'source/etcd',
  description: 'Reads the configuration of the gateway from etcd, and watches it.',
  configSources: {
    form: 'etcd://HOST:2379/KEY, or etcd+https:// for TLS',
    open: (site) => new Etcd(site),
  },
});

/** A key in a response, with Base64 texts. */
interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

class Etcd implements ConfigSource {
  readonly #site: SourceSite;
  readonly #http: StoreHttp;
  readonly #origin: string;
  readonly #key: string;
  readonly #isFile: boolean;
  #token: string | null = null;

  constructor(site: SourceSite) {
    const { address, access, maxBytes } = site;
    this.#key = keyIn(address);
    if (this.#key === '') throw new Error('the address of etcd needs a key: etcd://HOST:2379/KEY');
    this.#site = site;
    // Values are in Base64 there.
    this.#http = new StoreHttp(access, maxBytes * 2);
    const secure = address.protocol === 'etcd+https:';
    this.#origin = `${secure ? 'https' : 'http'}://${address.hostname}:${address.port || 2379}`;
    this.#isFile = fileNameOf(this.#key) === this.#key.split('/').at(-1);
  }

  async read(signal: AbortSignal): Promise<SourceRevision | null> {
    const { header, kvs = [], more } = await this.#call('kv/range', { ...this.#range(), limit: '1001' }, signal);
    if (more === true) throw new Error('there are more than 1000 keys below the prefix');
    const named = this.#filesIn(kvs as KeyValue[]);
    if (named.size === 0) return null;
    const files = this.#isFile ? named : withMain(named, `the prefix ${this.#key}/`)!;
    const order = Number((header as { revision: string }).revision);
    return { version: String(order), order, files };
  }

  async awaitChange(version: string | null, signal: AbortSignal): Promise<void> {
    const from = version === null ? {} : { start_revision: String(Number(version) + 1) };
    const request = { create_request: { ...this.#range(), ...from } };
    let pending = '';
    for await (const chunk of this.#http.follow(await this.#request('watch', request, signal), signal)) {
      pending += Buffer.from(chunk).toString();
      const lines = pending.split('\n');
      pending = lines.pop()!;
      if (pending.length > MAX_EVENT_BYTES) return;
      // Also if the revision was compacted or the watch canceled: reading again shows the current revision.
      if (lines.some(hasNews)) return;
    }
    throw new Error(`${this.#site.address.host} ended the watch`);
  }

  async write({ files, expected }: SourceWrite, signal: AbortSignal): Promise<string> {
    if (this.#isFile) demandSingle(files);
    const present = await this.#call('kv/range', this.#range(), signal);
    const kvs = (present['kvs'] ?? []) as KeyValue[];
    const revision = (present['header'] as { revision: string }).revision;
    const version = kvs.length === 0 ? null : revision;
    if (!isExpected(expected, kvs)) throw new SourceConflict(version);
    const kept = new Set([...files.keys()].map((path) => this.#keyOf(path)));
    const compare = [
      ...kvs.map(({ key, mod_revision }) => ({ key, target: 'MOD', result: 'EQUAL', mod_revision })),
      ...[...kept]
        .filter((key) => !kvs.some((each) => each.key === key))
        .map((key) => ({ key, target: 'CREATE', result: 'EQUAL', create_revision: '0' })),
    ];
    const success = [
      ...[...files].map(([path, content]) => ({
        request_put: { key: this.#keyOf(path), value: Buffer.from(content).toString('base64') },
      })),
      ...kvs.filter(({ key }) => !kept.has(key)).map(({ key }) => ({ request_delete_range: { key } })),
    ];
    const result = await this.#call('kv/txn', { compare, success }, signal);
    if (result['succeeded'] !== true) throw new SourceConflict(null);
    return (result['header'] as { revision: string }).revision;
  }

  async close(): Promise<void> {}

  #filesIn(kvs: readonly KeyValue[]): Map<string, Uint8Array> {
    const prefix = this.#isFile ? this.#key.slice(0, this.#key.lastIndexOf('/') + 1) : `${this.#key}/`;
    return new Map(
      kvs.map(({ key, value = '' }) => [
        Buffer.from(key, 'base64').toString().slice(prefix.length),
        Buffer.from(value, 'base64'),
      ]),
    );
  }

  /** The key of a file, in Base64. */
  #keyOf(path: string): string {
    return base64(this.#isFile ? this.#key : `${this.#key}/${path}`);
  }

  #range(): { readonly key: string; readonly range_end?: string } {
    if (this.#isFile) return { key: base64(this.#key) };
    // The character after "/" ends the range of all keys with the prefix.
    return { key: base64(`${this.#key}/`), range_end: base64(`${this.#key}0`) };
  }

  async #call(method: string, body: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    let response = await this.#http.send(await this.#request(method, body, signal), signal);
    if (isUnauthenticated(response)) {
      this.#token = null;
      response = await this.#http.send(await this.#request(method, body, signal), signal);
    }
    if (response.status !== 200) throw statusError(response);
    return jsonIn(response);
  }

  async #request(method: string, body: object, signal: AbortSignal) {
    const token = await this.#authenticated(signal);
    const headers = { 'content-type': 'application/json', ...(token !== null && { authorization: token }) };
    return {
      method: 'POST',
      url: new URL(`${this.#origin}/v3/${method}`),
      headers,
      body: JSON.stringify(body),
    } as const;
  }

  /** A token for the user of the address; null without one. */
  async #authenticated(signal: AbortSignal): Promise<string | null> {
    const { username: name, password = '', token } = this.#site.access;
    if (token !== undefined) return token;
    if (name === undefined) return null;
    if (this.#token !== null) return this.#token;
    const url = new URL(`${this.#origin}/v3/auth/authenticate`);
    const body = JSON.stringify({ name, password });
    const response = await this.#http.send({ method: 'POST', url, body }, signal);
    if (response.status !== 200) throw statusError(response);
    this.#token = String(jsonIn(response)['token']);
    return this.#token;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Expired and unknown tokens have this status. */
function isUnauthenticated({ status }: StoreResponse): boolean {
  return status === 401;
}

/** Whether the keys are as the version that was read. */
function isExpected(expected: string | null, kvs: readonly KeyValue[]): boolean {
  if (expected === null) return kvs.length === 0;
  return kvs.length > 0 && kvs.every(({ mod_revision }) => Number(mod_revision) <= Number(expected));
}

/** False for the line that confirms the watch. */
function hasNews(line: string): boolean {
  if (line.trim() === '') return false;
  try {
    const { result = {}, error } = JSON.parse(line);
    return (
      error !== undefined ||
      result.canceled === true ||
      result.compact_revision !== undefined ||
      (result.events ?? []).length > 0
    );
  } catch {
    return true;
  }
}
