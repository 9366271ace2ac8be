import { createHash, X509Certificate } from 'node:crypto';
import { type ClientTls, HeaderBag, type PipeRequest, pemErrorReason, type Reply, type Site } from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { requestTo } from '../../shared/calls/request-to.ts';
import type { KeyServerConfig } from './schema.ts';

/** Longest time for a download, including redirects, in milliseconds. */
export const DOWNLOAD_MS = 10_000;
/** Largest decoded key set, in bytes. */
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 10;
const redirects = new Set([301, 302, 303, 307, 308]);

/** A server from which a key set is fetched. */
export interface KeyServer {
  /** Identity of the server: equal for the same address and the same TLS requirements. Components with equal identities may share keys. */
  readonly identity: string;
  /** Fetches the set. @throws Error with the cause, which contains nothing of the response. */
  fetch(signal: AbortSignal): Promise<KeyDocument>;
}

/** A fetched key set. */
export interface KeyDocument {
  readonly text: string;
  /** Lifetime declared by the server, in milliseconds; null if not declared. */
  readonly maxAgeMs: number | null;
}

/** Settings of requests to a key server, from `KeyServerConfig`. */
type Demands = Pick<KeyServerConfig, 'disable_jwk_security' | 'jwk_fingerprints' | 'jwk_local_ca' | 'cipher_suites'>;

/**
 * Creates a client for the server of `jwk_url`, with TLS as the component configures it. Codes: `KEYS_URL`, `KEYS_PIN`,
 * `KEYS_CA` and those of the client's TLS; a warning `KEYS_INSECURE`.
 * @param pointer of the address.
 * @returns null for an address without TLS if that is not allowed.
 */
export function keyServer(
  site: Site<unknown>,
  written: string,
  config: Demands,
  pointer = '/jwk_url',
): KeyServer | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw site.fault('KEYS_URL', pointer, 'not an http or https URL');
  }
  const { disable_jwk_security: insecure } = config;
  if (url.protocol === 'http:' && !insecure) {
    site.warn(
      'KEYS_INSECURE',
      pointer,
      'without TLS, anyone on the network path could replace the keys: every request is rejected',
      {
        hint: 'use https://, or set "disable_jwk_security": true in a trusted network',
      },
    );
    return null;
  }
  const pins = config.jwk_fingerprints.map((pin, index) => pinOf(site, pin, index));
  if (pins.length > 0 && insecure) {
    throw site.fault('KEYS_PIN', '/jwk_fingerprints', 'fingerprints have no effect if certificates are not verified', {
      hint: 'use jwk_local_ca instead of disable_jwk_security',
      related: [`${site.pointer}/disable_jwk_security`],
    });
  }
  const authority = readAuthority(site, config.jwk_local_ca);
  const shared = site.setting('client_tls');
  const settings: ClientTls = {
    ...(shared ?? noTls),
    allow_insecure_connections: insecure || (shared?.allow_insecure_connections ?? false),
    ca_certs: [...(shared?.ca_certs ?? []), ...(config.jwk_local_ca === undefined ? [] : [config.jwk_local_ca])],
    cipher_suites: config.cipher_suites,
  };
  const send = site.http({
    tls: { settings, at: '', pins },
    followsRedirects: false,
    calls: [{ address: url.href, at: pointer }],
  });
  const agent = `Sluice Version ${site.use('version')}`;
  return {
    identity: createHash('sha256')
      .update(JSON.stringify([url.href, settings, authority, pins]))
      .digest('base64'),
    fetch: (signal) =>
      underOwnCall(site.log, DOWNLOAD_MS, signal, (call) =>
        download(url, insecure, agent, (request) => send(request, call)),
      ),
  };
}

/** TLS settings for key servers if the service has none. */
const noTls: ClientTls = {
  allow_insecure_connections: false,
  disable_system_ca_pool: false,
  ca_certs: [],
  min_version: 'TLS12',
  max_version: 'TLS13',
  cipher_suites: [],
  curve_preferences: [],
  client_certs: [],
};

function pinOf(site: Site<unknown>, written: string, index: number): string {
  const bytes = Buffer.from(written, 'base64url');
  const plain = written.replace(/=$/, '');
  if (bytes.length !== 32 || bytes.toString('base64url') !== plain) {
    throw site.fault('KEYS_PIN', `/jwk_fingerprints/${index}`, 'the fingerprint is not a SHA-256 in base64url');
  }
  return bytes.toString('base64');
}

/** Reads and validates the file with the CA certificate; empty without one. */
function readAuthority(site: Site<unknown>, path: string | undefined): string {
  if (path === undefined) return '';
  let pem: string;
  try {
    pem = Buffer.from(site.read(path)).toString();
  } catch (cause) {
    throw site.fault('KEYS_CA', '/jwk_local_ca', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return new X509Certificate(pem) && pem;
  } catch (cause) {
    throw site.fault('KEYS_CA', '/jwk_local_ca', `no certificate in ${path}: ${pemErrorReason(pem, cause)}`, { cause });
  }
}

async function download(
  first: URL,
  insecure: boolean,
  agent: string,
  send: (request: PipeRequest) => Reply | Promise<Reply>,
): Promise<KeyDocument> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    if (url.protocol !== 'https:' && !(insecure && url.protocol === 'http:'))
      throw new Error('redirected to an address without TLS');
    const reply = await send(requestFor(url, agent, url.origin === first.origin ? first : null));
    if (reply.errors.length > 0) throw reply.errors[0]!;
    const location = redirects.has(reply.status) ? reply.headers.get('location') : undefined;
    if (location === undefined) return documentOf(reply);
    drop(reply);
    if (!URL.canParse(location, url.href)) throw new Error('redirected without a valid address');
    url = new URL(location, url);
  }
  throw new Error('too many redirects');
}

/** @param owner URL whose user and password are sent. */
function requestFor(url: URL, agent: string, owner: URL | null): PipeRequest {
  const headers = new HeaderBag(['User-Agent', agent, 'Accept', 'application/json, application/jwk-set+json']);
  if (owner && owner.username !== '') {
    const credentials = `${decodeURIComponent(owner.username)}:${decodeURIComponent(owner.password)}`;
    headers.set('Authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  }
  return requestTo(url, 'GET', headers, null);
}

async function documentOf(reply: Reply): Promise<KeyDocument> {
  const type = reply.headers.get('content-type') ?? '';
  const isGood = reply.status >= 200 && reply.status <= 299;
  if (!isGood || !/^application\/(?:jwk-set\+)?json/i.test(type)) {
    drop(reply);
    throw new Error(isGood ? 'the content type is not JSON' : `status ${reply.status}`);
  }
  if (reply.body === null) throw new Error('no body');
  const bytes = await bytesOf(reply, MAX_BYTES);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return { text, maxAgeMs: maxAge(reply.headers.get('cache-control')) };
}

function maxAge(control = ''): number | null {
  const seconds = /(?:^|,)\s*max-age="?(\d{1,9})/i.exec(control)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** Discards the rest of the body. */
function drop({ body }: Reply): void {
  if (body !== null && !(body instanceof Uint8Array)) body.cancel(new Error('not read'));
}
