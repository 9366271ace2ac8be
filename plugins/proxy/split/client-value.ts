import { type Call, claimsSlot, getKey, getPath, type PipeRequest, textOf } from '#contract';
import { IPV6_PREFIX, networkOf } from '../../shared/callers/client-identity.ts';
import { cookieOf } from '../../shared/http-headers/cookie.ts';

/** Reads a value of the client's request; empty if it is absent. */
export type ReadValue = (request: PipeRequest, call: Call) => string;

const readers: { readonly [S in 'header' | 'cookie' | 'claim' | 'ip']: (key: string) => ReadValue } = {
  header: (key) => {
    const name = key.toLowerCase();
    return ({ client }) => client.headers.get(name) ?? '';
  },
  cookie: (key) => {
    const start = `${key}=`;
    return ({ client }) => cookieOf(client.headers, start);
  },
  claim: (key) => {
    const path = key.split('.');
    return (_request, call) => {
      const claims = call.get(claimsSlot);
      const value = claims && (getKey(claims, key) ?? getPath(claims, path));
      return value === undefined ? '' : textOf(value);
    };
  },
  ip: () => (request) => networkOf(request.client.ip, IPV6_PREFIX),
};

/** @param key name of the header or cookie, or dotted path of the claim. */
export function readValue(strategy: keyof typeof readers, key: string): ReadValue {
  return readers[strategy](key);
}
