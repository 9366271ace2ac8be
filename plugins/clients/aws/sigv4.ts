import { createHash, createHmac } from 'node:crypto';

/** Credentials that requests are signed with. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** Region and service that a signature is valid for. */
export interface SigningScope {
  readonly region: string;
  /** Service name, such as `lambda`; `s3` has its own rules. */
  readonly service: string;
}

/** A request as it is sent. */
export interface SignedRequest {
  readonly method: string;
  /** `host` or `host:port`. */
  readonly host: string;
  /** Encoded path and query. */
  readonly target: string;
  /** Headers to sign, in addition to `host` and the ones that signing adds. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: Uint8Array | null;
}

/** The signature with its intermediate steps, for debugging a mismatch. Contains no key. */
export interface Signature {
  /** Headers to add to the request, `Authorization` last. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly canonicalRequest: string;
  readonly stringToSign: string;
}

/** The hash of a body that is not signed: over TLS, for s3 only. */
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Signs a request with AWS Signature Version 4. @param at milliseconds since 1970. @param bodyHash default: the hash of the body. */
export function signAws(
  request: SignedRequest,
  credentials: AwsCredentials,
  scope: SigningScope,
  at: number,
  bodyHash = sha256(request.body ?? ''),
): Signature {
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
  const added: [string, string][] = [['X-Amz-Date', time]];
  if (credentials.sessionToken !== undefined) added.push(['X-Amz-Security-Token', credentials.sessionToken]);
  if (scope.service === 's3') added.push(['X-Amz-Content-Sha256', bodyHash]);
  const headers = canonicalHeaders([['host', request.host], ...request.headers, ...added]);
  const names = headers.map(([name]) => name).join(';');
  const [path, search] = split(request.target);
  const canonicalRequest = [
    request.method,
    canonicalPath(path, scope.service),
    canonicalQuery(search),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const date = time.slice(0, 8);
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`;
  const stringToSign = [ALGORITHM, time, credentialScope, sha256(canonicalRequest)].join('\n');
  const signature = hmac(signingKey(credentials.secretAccessKey, date, scope), stringToSign).toString('hex');
  const authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`;
  return { headers: [...added, ['Authorization', authorization]], canonicalRequest, stringToSign };
}

/** Serializes the headers: lowercase names in order, each once with all its values and with white space collapsed. */
function canonicalHeaders(headers: Iterable<readonly [string, string]>): [name: string, value: string][] {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const tidy = value.trim().split(/\s+/).join(' ');
    const before = values.get(lower);
    values.set(lower, before === undefined ? tidy : `${before},${tidy}`);
  }
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The encoded path is encoded once more, except for s3, which uses it unchanged. */
function canonicalPath(path: string, service: string): string {
  if (service === 's3')
    return (
      path
        .split('/')
        .map((segment) => encode(decoded(segment)))
        .join('/') || '/'
    );
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(encode(segment));
  }
  const end = segments.length > 0 && path.endsWith('/') ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

/** Serializes the parameters, ordered by encoded name, then by value. */
function canonicalQuery(search: string): string {
  const pairs = search.split('&').filter((pair) => pair !== '');
  const encoded = pairs.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    return [encode(decoded(name.replaceAll('+', ' '))), encode(decoded(value.replaceAll('+', ' ')))];
  });
  encoded.sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)));
  return encoded.map(([name, value]) => `${name}=${value}`).join('&');
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function split(target: string): [path: string, search: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Percent-encodes everything but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Derives the signing key of a day: it costs four hashes and is the same all day. */
function signingKey(secret: string, date: string, { region, service }: SigningScope): Buffer {
  const id = `${secret}\n${date}\n${region}\n${service}`;
  if (lastKey?.id === id) return lastKey.key;
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`) as Buffer;
  lastKey = { id, key };
  return key;
}

let lastKey: { readonly id: string; readonly key: Buffer } | null = null;

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}
