import type { HeaderBag } from '#contract';
import { cookieOf } from '../../shared/http-headers/cookie.ts';
import { MAX_TOKEN } from './token.ts';

/** Extracts the token of a request: empty without one, null if it is too long. */
export type Extract = (headers: HeaderBag) => string | null;

/** Reads the token from a header or, if that is missing or empty, from a cookie. */
export function extractor(headerName: string, cookie: string): Extract {
  const header = headerName.toLowerCase();
  const start = `${cookie}=`;
  return (headers) => {
    const value = headers.get(header);
    return value === undefined || value === '' ? plain(cookieOf(headers, start)) : plain(withoutScheme(value));
  };
}

/** Removes the prefix `Bearer `, in any case. */
export function withoutScheme(value: string): string {
  return value.length > 7 && value.slice(0, 7).toLowerCase() === 'bearer ' ? value.slice(7) : value;
}

/** Removes whitespace within the token. Returns null if the token is too long. */
function plain(token: string): string | null {
  if (token.length > MAX_TOKEN) return null;
  return token.includes(' ') || token.includes('\t') ? token.replace(/[ \t]+/g, '') : token;
}
