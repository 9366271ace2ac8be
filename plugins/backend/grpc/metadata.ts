import type { HeaderBag } from '#contract';

/** Headers that belong to a connection, or describe the transfer of an HTTP body. */
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
 * Converts headers to metadata: lowercases names, applies renames, and prefixes names that begin with `grpc` with
 * `in-`. Names and values with characters that gRPC does not support are omitted.
 * @param renamed metadata keys by lowercase header name.
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

/** Converts a name to a metadata key. Keys reserved by gRPC are prefixed. */
export function keyOf(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith('grpc') ? `in-${lower}` : lower;
}

/** Whether a name is a valid metadata key. */
export function isKey(name: string): boolean {
  return keyPattern.test(name.toLowerCase()) && !dropped.has(name.toLowerCase());
}
