import type { Call, ClientRequest } from '#contract';
import { hideParameters } from '../../shared/parameters/hidden.ts';
import type { Strategy } from './schema.ts';

/** Reads the key of a request; empty if the request has none. */
export type ReadKey = (request: ClientRequest, call: Call) => string;

export function keyReader(strategy: Strategy, identifier: string): ReadKey {
  return strategy === 'header' ? headerReader(identifier.toLowerCase()) : parameterReader(identifier);
}

/** Reads a key with or without a `Bearer` prefix. Header values arrive as Latin-1, but a key is UTF-8. */
function headerReader(name: string): ReadKey {
  return ({ headers }) => {
    const value = headers.get(name);
    if (value === undefined) return '';
    const isBearer = value.length > 6 && value.charCodeAt(6) === 32 && value.slice(0, 6).toLowerCase() === 'bearer';
    const key = isBearer ? value.slice(7).trim() : value;
    return /^[\x20-\x7e]*$/.test(key) ? key : Buffer.from(key, 'latin1').toString();
  };
}

function parameterReader(name: string): ReadKey {
  return (request, call) => {
    const key = request.search === '' ? undefined : request.query.get(name);
    if (key === undefined) return '';
    // Hides the parameter once more, because other components may have reset the query that logs show.
    hideParameters(request, call, new Set([name]));
    return key;
  };
}
