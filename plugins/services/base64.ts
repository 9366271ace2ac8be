/** The bytes of a text in base64, with its padding; null for what is none. */
export function bytesOfBase64(text: string): Buffer | null {
  // Groups of four that are repeated would need a stack as deep as the text is long.
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, 'base64') : null;
}
