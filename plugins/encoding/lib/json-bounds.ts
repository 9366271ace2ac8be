export const contentType = 'application/json; charset=utf-8';

/** Where a text begins and ends without the white space around it. */
export function objectBounds(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = bytes.length;
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  return { start, end };
}

/** True for a byte that is white space in JSON. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
