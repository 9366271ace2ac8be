import type { HeaderBag } from '#contract';
import { wireText } from './fields.ts';
import { type ElseFilter, filter, filterFields } from './filter.ts';
import { kind, type Place, scope } from './modifier.ts';

const name = { type: 'string', minLength: 1, description: 'Cookie name.' } as const;

export const cookieModifier = kind(
  {
    type: 'object',
    description: 'Adds a cookie to the Cookie header of requests, or a Set-Cookie header to responses.',
    required: ['name', 'value'],
    properties: {
      name,
      value: { type: 'string', description: 'Cookie value.' },
      path: { type: 'string', description: 'Path attribute: the path that clients send the cookie for.', default: '' },
      domain: {
        type: 'string',
        description: 'Domain attribute: the domain that clients send the cookie to.',
        default: '',
      },
      expires: {
        type: 'string',
        description: 'Expires attribute, in RFC 3339 format.',
        examples: ['2030-04-12T23:20:50Z'],
      },
      secure: {
        type: 'boolean',
        description: 'Secure attribute: clients send the cookie over TLS only.',
        default: false,
      },
      httpOnly: { type: 'boolean', description: 'HttpOnly attribute: hides the cookie from scripts.', default: false },
      maxAge: {
        type: 'integer',
        description: 'Max-Age attribute in seconds. Negative values delete the cookie. Default: no Max-Age.',
        default: 0,
      },
      scope,
    },
  },
  (config, place) => {
    const pair = pairOf(config.name, config.value, place);
    const line = [pair, ...attributesOf(config, place)].join('; ');
    return {
      request({ headers }) {
        headers.set('Cookie', [...headers.getAll('cookie'), pair].join('; '));
      },
      response: ({ headers }) => headers.append('Set-Cookie', line),
    };
  },
);

export const cookieFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if a cookie exists or, with `value`, has that value.',
    required: ['name', 'modifier'],
    properties: {
      name,
      value: { type: 'string', description: 'Required cookie value. Default: any value.', default: '' },
      ...filterFields,
    },
  },
  (config, place) => {
    const wanted = wireText(config.value);
    const matches = (pairs: readonly string[]) =>
      pairs.some((pair) => {
        const equals = pair.indexOf('=');
        if (equals < 0 || pair.slice(0, equals).trim() !== config.name) return false;
        return wanted === '' || unquoted(pair.slice(equals + 1).trim()) === wanted;
      });
    return filter(config as ElseFilter, place, {
      request: ({ headers }) => matches(cookiesOf(headers)),
      response: ({ headers }) => matches(headers.getAll('set-cookie').map((line) => line.split(';', 1)[0]!)),
    });
  },
);

function cookiesOf(headers: HeaderBag): string[] {
  return headers.getAll('cookie').flatMap((line) => line.split(';'));
}

function unquoted(value: string): string {
  return /^".*"$/s.test(value) ? value.slice(1, -1) : value;
}

/** @throws ConfigError for an invalid cookie. */
function pairOf(name: string, value: string, place: Place): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw place.fault('/name', `"${name}" is not a valid cookie name`);
  if (!/^[ !#-:<-[\]-~]*$/.test(value)) {
    throw place.fault('/value', 'the value contains characters that are not allowed in cookies', {
      hint: 'printable ASCII without " ; and \\',
    });
  }
  return `${name}=${/[ ,]/.test(value) ? `"${value}"` : value}`;
}

interface Attributes {
  readonly path: string;
  readonly domain: string;
  readonly expires?: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly maxAge: number;
}

function attributesOf(config: Attributes, place: Place): string[] {
  const { path, domain, expires, secure, httpOnly, maxAge } = config;
  if (!/^[ -:<-~]*$/.test(path))
    throw place.fault('/path', 'the path contains characters that are not allowed in cookies');
  if (!/^\.?[A-Za-z0-9:.-]*$/.test(domain)) throw place.fault('/domain', `"${domain}" is not a valid domain`);
  const until = expires === undefined ? null : readTime(expires, place);
  return [
    path && `Path=${path}`,
    domain && `Domain=${domain.replace(/^\./, '')}`,
    until && `Expires=${until.toUTCString()}`,
    maxAge !== 0 && `Max-Age=${Math.max(maxAge, 0)}`,
    httpOnly && 'HttpOnly',
    secure && 'Secure',
  ].filter((attribute) => typeof attribute === 'string' && attribute !== '') as string[];
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function readTime(text: string, place: Place): Date {
  const time = new Date(text.toUpperCase());
  if (!rfc3339.test(text) || Number.isNaN(time.getTime())) {
    throw place.fault('/expires', `"${text}" is not a valid time`, { hint: '2030-04-12T23:20:50Z' });
  }
  return time;
}
