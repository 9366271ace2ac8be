import type { Call, ClientRequest } from '#contract';
import { cookieOf } from '../../shared/http-headers/cookie.ts';
import { hideParameters } from '../../shared/parameters/hidden.ts';
import { withoutScheme } from '../validator/extract.ts';
import { MAX_TOKEN } from '../validator/token.ts';
import type { IntrospectionConfig } from './schema.ts';

/** Extracts the token of a request. Empty if the request has none; null if the text cannot be a token. */
export type ReadToken = (request: ClientRequest, call: Call) => string | null;

/** Characters of access tokens (RFC 6749). Anything else, such as other credentials, is not sent to the server. */
const characters = /^[\x21-\x7e]*$/;

/** Reads the token from a header or, if that is missing or empty, from a cookie, or else from a query parameter. */
export function tokenReader({
  auth_header_name,
  cookie_key,
  query_key,
}: Pick<IntrospectionConfig, 'auth_header_name' | 'cookie_key' | 'query_key'>): ReadToken {
  const header = auth_header_name.toLowerCase();
  const start = `${cookie_key}=`;
  const parameters = new Set([query_key]);
  return (request, call) => {
    const value = request.headers.get(header);
    let token = value ? withoutScheme(value).trim() : cookieOf(request.headers, start);
    if (query_key !== '' && request.search !== '') {
      hideParameters(request, call, parameters);
      if (token === '' && !value) token = request.query.get(query_key) ?? '';
    }
    return token.length <= MAX_TOKEN && characters.test(token) ? token : null;
  };
}
