/** Lookup table of JSON keys by the bytes between their quotes. */
export class JsonKeys<T> {
  readonly #buckets = new Map<number, { readonly key: Uint8Array; readonly value: T }[]>();

  add(name: string, value: T): void {
    const key = Buffer.from(name);
    const bucket = bucketOf(key, 0, key.length);
    const known = this.#buckets.get(bucket);
    if (known) known.push({ key, value });
    else this.#buckets.set(bucket, [{ key, value }]);
  }

  /** Value stored for the key from `start` up to, but not including, `end`. */
  find(bytes: Uint8Array, start: number, end: number): T | undefined {
    const known = this.#buckets.get(bucketOf(bytes, start, end));
    if (known === undefined) return undefined;
    for (const { key, value } of known) if (isSame(bytes, start, key, 0, key.length)) return value;
    return undefined;
  }
}

/** Length and the first and last byte distinguish most keys. */
function bucketOf(bytes: Uint8Array, start: number, end: number): number {
  return end === start ? 0 : ((end - start) << 16) | (bytes[start]! << 8) | bytes[end - 1]!;
}

/** Compares bytes of two buffers from the given positions. */
export function isSame(one: Uint8Array, at: number, other: Uint8Array, from: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (one[at + index] !== other[from + index]) return false;
  return true;
}
