import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConfigSource, definePlugin, SourceBusy, type SourceRevision, type SourceSite } from '#contract';
import { keyIn } from './lib/address.ts';
import { fileNameOf } from './lib/files.ts';
import { StoreHttp, type StoreResponse, statusError } from './lib/http.ts';

/** Longest pause that a server can request, in milliseconds. */
const LONGEST_PAUSE_MS = 60 * 60_000;

/** Maximum size of a signature, in bytes. */
const MAX_SIGNATURE_BYTES = 1_024;

/**
 * A configuration on an HTTP server, read at an interval with the ETag of the last response. If the environment variable
 * GATEWAY_SOURCE_PUBLIC_KEY names a PEM file with an Ed25519 key, the file with the extension `.sig` at the same address
 * must be its signature, in Base64 or as 64 bytes.
 */
export const plugin = definePlugin({
  name: 'source/https',
  description: 'Reads the configuration of the gateway from an HTTP server, at an interval.',
  configSources: {
    form: 'https://HOST/PATH.json',
    open: (site) => new HttpFile(site),
  },
});

class HttpFile implements ConfigSource {
  readonly #site: SourceSite;
  readonly #http: StoreHttp;
  readonly #key: KeyObject | null;
  /** The last response with an ETag. */
  #last: SourceRevision | null = null;

  constructor(site: SourceSite) {
    this.#site = site;
    this.#http = new StoreHttp(site.access, site.maxBytes);
    const path = site.env['GATEWAY_SOURCE_PUBLIC_KEY'];
    this.#key = path ? ed25519(path) : null;
  }

  async read(signal: AbortSignal): Promise<SourceRevision | null> {
    const { address: url } = this.#site;
    const tag = this.#last?.version;
    const headers = { ...this.#credentials(), ...(tag !== undefined && { 'if-none-match': tag }) };
    const response = await this.#http.send({ url, headers }, signal);
    if (response.status === 304 && this.#last !== null) return this.#last;
    this.#last = null;
    if (response.status === 404 || response.status === 410) return null;
    if (response.status !== 200) throw failure(response);
    if (this.#key !== null) await this.#verify(response.body, this.#key, signal);
    const { etag, 'last-modified': modified = 'unknown' } = response.headers;
    const revision: SourceRevision = {
      version: String(etag ?? modified),
      // A file that is restored can be older on purpose, so its time says nothing.
      order: null,
      files: new Map([[fileNameOf(keyIn(url)), response.body]]),
    };
    if (typeof etag === 'string') this.#last = revision;
    return revision;
  }

  async close(): Promise<void> {}

  #credentials(): Readonly<Record<string, string>> {
    const { username, password = '', token } = this.#site.access;
    if (token !== undefined) return { authorization: `Bearer ${token}` };
    if (username === undefined) return {};
    return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  }

  async #verify(content: Uint8Array, key: KeyObject, signal: AbortSignal): Promise<void> {
    const url = new URL(this.#site.address);
    url.pathname += '.sig';
    const response = await this.#http.send({ url, headers: this.#credentials() }, signal);
    if (response.status !== 200) throw new Error(`the signature cannot be read: status ${response.status}`);
    const { body } = response;
    if (body.length > MAX_SIGNATURE_BYTES) throw new Error('the signature is too long');
    const signature = body.length === 64 ? body : Buffer.from(Buffer.from(body).toString('latin1'), 'base64');
    if (!verify(null, content, key, signature)) throw new Error('the signature does not match the configuration');
  }
}

/** @throws Error if the file cannot be read, or has another kind of key. */
function ed25519(path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(readFileSync(path));
  } catch (error) {
    throw new Error(`GATEWAY_SOURCE_PUBLIC_KEY: ${path}: ${(error as Error).message}`);
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(`GATEWAY_SOURCE_PUBLIC_KEY: ${path} has a key of type ${key.asymmetricKeyType}, not Ed25519`);
}

function failure(response: StoreResponse): Error {
  const error = statusError(response);
  const after = pauseIn(response);
  return after === null ? error : new SourceBusy(error.message, after);
}

/** Pause that the server requests, in milliseconds; null without one. */
function pauseIn({ headers: { 'retry-after': value } }: StoreResponse): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}
