const alphabet = /^[A-Za-z0-9_-]*$/;

/** Bytes of base64url without padding; null for anything else, where Node would leave out what it does not know. */
export function decodeBase64Url(text: string): Buffer | null {
  return text.length % 4 !== 1 && alphabet.test(text) ? Buffer.from(text, 'base64url') : null;
}
