import { createHash, timingSafeEqual } from 'node:crypto';

/** Checks in constant time whether an `Authorization` header contains the key. */
export type IsAuthorized = (authorization: string | undefined) => boolean;

export function keyHolder(key: string): IsAuthorized {
  const expected = digest(key);
  return (authorization = '') => {
    const [scheme, given = ''] = authorization.split(/ +/, 2) as [string, string?];
    return timingSafeEqual(digest(given), expected) && scheme.toLowerCase() === 'bearer';
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
