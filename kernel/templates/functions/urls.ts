import { Failure } from '../budget.ts';
import { type Functions, fn } from '../function.ts';
import { type Dict, describe, type Value, valueAt } from '../value.ts';

const ADDRESS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** URL functions. */
export const urlFunctions: Functions = {
  urlParse: fn('string', (text) => {
    const match = ADDRESS.exec(text);
    if (!match || /[\x00-\x1f\x7f]/.test(text)) throw new Failure(`not a valid URL: ${JSON.stringify(text)}`);
    const [, scheme = '', userinfo = '', host = '', path = '', query = '', fragment = ''] = match;
    const isOpaque = scheme !== '' && !text.slice(scheme.length + 1).startsWith('/') && path !== '';
    return {
      scheme: scheme.toLowerCase(),
      userinfo,
      host,
      hostname: host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'),
      path: isOpaque ? '' : decoded(path),
      opaque: isOpaque ? path : '',
      query,
      fragment: decoded(fragment),
    };
  }),
  urlJoin: fn('map', (segments) => {
    const text = (key: string): string => textAt(segments, key);
    const scheme = text('scheme') && `${text('scheme')}:`;
    const query = text('query') && `?${text('query')}`;
    const fragment = text('fragment') && `#${encodePath(text('fragment'))}`;
    if (text('opaque')) return `${scheme}${text('opaque')}${query}${fragment}`;
    const userinfo = text('userinfo') && `${text('userinfo')}@`;
    const host = text('host');
    const path = encodePath(text('path'));
    const authority = host || userinfo || (scheme && path.startsWith('/')) ? `//${userinfo}${host}` : '';
    return `${scheme}${authority}${authority && path && !path.startsWith('/') ? '/' : ''}${path}${query}${fragment}`;
  }),
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Failure(`not a valid URL: the percent-encoding of ${JSON.stringify(text)} is not valid`);
  }
}

function encodePath(text: string): string {
  return encodeURI(text.toWellFormed()).replace(
    /[?#[\]]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function textAt(segments: Dict, key: string): string {
  const value: Value = valueAt(segments, key);
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new Failure(`${key} must be a string, found ${describe(value)}`);
  return value;
}
