const alphabet = /^[A-Za-z0-9_-]*$/;

/** Decodes base64url without padding; null for anything else. Node would skip unknown characters. */
export function decodeBase64Url(text: string): Buffer | null {
  return text.length % 4 !== 1 && alphabet.test(text) ? Buffer.from(text, 'base64url') : null;
}
