/** User name and password sent by a client. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
}

const scheme = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** Parses the credentials of an `Authorization` header; null if it has none. */
export function readCredentials(header: string | undefined): Credentials | null {
  const encoded = header && scheme.exec(header)?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1 || text.includes('\0')) return null;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
