import type { Call, ClientRequest } from '#contract';
import { hideParameters } from '../../services/hidden-parameters.ts';
import type { Strategy } from './schema.ts';

/** The key of a request; empty for none. */
export type ReadKey = (request: ClientRequest, call: Call) => string;

export function keyReader(strategy: Strategy, identifier: string): ReadKey {
  return strategy === 'header' ? headerReader(identifier.toLowerCase()) : parameterReader(identifier);
}

/** With or without `Bearer` in front. Header values are read as Latin-1; a key in them is UTF-8. */
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
    // Who stands between may have left the logs another query.
    hideParameters(request, call, new Set([name]));
    return key;
  };
}
