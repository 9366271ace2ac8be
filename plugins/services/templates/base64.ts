/** The bytes of a text in base64, with its padding; null for what is none. Line breaks are allowed. */
export function bytesOfBase64(text: string): Buffer | null {
  const plain = text.replace(/[\r\n]/g, '');
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain)
    ? Buffer.from(plain, 'base64')
    : null;
}
