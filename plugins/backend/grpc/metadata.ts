import type { HeaderBag } from '#contract';

/** Headers that belong to a connection, or say how a body of HTTP travels. */
const dropped: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const keyPattern = /^[\da-z_.-]+$/;
const valuePattern = /^[\x20-\x7e]*$/;

/**
 * The metadata that headers make: names in lower case, renamed where that is asked for, those that begin with `grpc` behind
 * `in-`. What gRPC cannot carry, names and values of other characters, is left out.
 * @param renamed keys by the lower-case names of headers.
 */
export function metadataOf(
  headers: HeaderBag,
  renamed: ReadonlyMap<string, string>,
): Record<string, string | string[]> {
  const metadata: Record<string, string | string[]> = Object.create(null);
  for (const [written, value] of headers) {
    const name = written.toLowerCase();
    const given = renamed.get(name);
    if (given === undefined && dropped.has(name)) continue;
    const key = keyOf(given ?? name);
    if (!keyPattern.test(key) || !valuePattern.test(value)) continue;
    const there = metadata[key];
    if (there === undefined) metadata[key] = value;
    else if (typeof there === 'string') metadata[key] = [there, value];
    else there.push(value);
  }
  return metadata;
}

/** A key of metadata: those of gRPC's own are nobody else's. */
export function keyOf(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith('grpc') ? `in-${lower}` : lower;
}

/** True for a name that metadata can have. */
export function isKey(name: string): boolean {
  return keyPattern.test(name.toLowerCase()) && !dropped.has(name.toLowerCase());
}
