/** Decodes padded base64; null if the text is not valid base64. */
export function bytesOfBase64(text: string): Buffer | null {
  // The characters are checked without a repeated group of four, which would need a stack as deep as the text is long.
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, 'base64') : null;
}
