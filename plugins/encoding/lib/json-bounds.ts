export const contentType = 'application/json; charset=utf-8';

/** Bounds of a JSON text without the surrounding white space. */
export function objectBounds(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = bytes.length;
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  return { start, end };
}

/** True for JSON white space. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
