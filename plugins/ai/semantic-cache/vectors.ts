/** The entry whose vector has the smallest cosine distance, if that is at most `distance`. Vectors have length 1. */
export function nearest<T extends { readonly vector: Float32Array }>(
  entries: Iterable<T>,
  vector: Float32Array,
  distance: number,
): T | undefined {
  // The tolerance compensates for rounding, so that equal vectors have distance 0.
  let most = 1 - distance - 1e-6;
  let found: T | undefined;
  for (const entry of entries) {
    if (entry.vector.length !== vector.length) continue;
    let product = 0;
    for (let at = 0; at < vector.length; at++) product += vector[at]! * entry.vector[at]!;
    if (product < most) continue;
    most = product;
    found = entry;
  }
  return found;
}

/** Encodes a vector in base64. */
export function encode(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

/** Decodes a vector from base64. Bytes beyond the last whole number are dropped. */
export function decode(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return new Float32Array(bytes.buffer, 0, bytes.length >> 2);
}
