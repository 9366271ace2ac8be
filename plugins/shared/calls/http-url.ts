/** Parses an http or https URL. @returns null for any other text, and for a URL with a user or a password. */
export function httpUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null;
}
