import { Query } from '#contract';
import { authorityOf } from './fields.ts';
import { type ElseFilter, filter, filterFields } from './filter.ts';
import { kind, type Place, scopeOf } from './modifier.ts';

const parameter = { type: 'string', minLength: 1, description: 'Query parameter name.' } as const;

export const querystringModifier = kind(
  {
    type: 'object',
    description: 'Sets a query parameter.',
    required: ['name', 'value'],
    properties: {
      name: parameter,
      value: { type: 'string', description: 'Parameter value, replacing all existing values.' },
      scope: scopeOf('request'),
    },
  },
  ({ name, value }) => ({
    request(request) {
      const [path, search] = split(request.target);
      const query = Query.parse(search);
      query.set(name, value);
      request.target = `${path}?${query}`;
    },
    response: null,
  }),
);

export const querystringFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if a query parameter exists or, with `value`, has that value.',
    required: ['name', 'modifier'],
    properties: {
      name: parameter,
      value: { type: 'string', description: 'Required parameter value. Default: any value.', default: '' },
      ...filterFields,
    },
  },
  (config, place) =>
    onAddress(config as ElseFilter, place, (_origin, target) => {
      const values = Query.parse(split(target)[1]).getAll(config.name);
      return config.value === '' ? values.length > 0 : values.includes(config.value);
    }),
);

const addressParts = {
  scheme: { type: 'string', description: 'URL scheme, http or https.', default: '' },
  host: { type: 'string', description: 'Host name or IP address, with the port.', default: '' },
  path: { type: 'string', description: 'URL path without the query.', default: '' },
  query: { type: 'string', description: 'Query string without the question mark.', default: '' },
} as const;

export const urlModifier = kind(
  {
    type: 'object',
    description: 'Replaces parts of the request URL. The Host header does not change.',
    properties: { ...addressParts, scope: scopeOf('request') },
  },
  ({ scheme, host, path, query }, place) => {
    if (!/^(?:https?)?$/.test(scheme))
      throw place.fault('/scheme', `backends cannot be called over "${scheme}"`, { hint: 'http or https' });
    if (host !== '' && !isAuthority(host)) {
      throw place.fault('/host', `"${host}" is not a valid host`, { hint: 'example.com or example.com:8080' });
    }
    const newPath = path === '' ? '' : encoded(path.replace(/^(?!\/)/, '/')).replaceAll('?', '%3F');
    const newQuery = encoded(query);
    return {
      request(request) {
        const at = request.origin.indexOf('://');
        const authority = request.origin.slice(at + 3);
        if (host !== '') request.host ??= authorityOf(request.origin);
        request.origin = `${scheme || request.origin.slice(0, at)}://${host || authority}`;
        const [oldPath, oldQuery] = split(request.target);
        const search = newQuery || oldQuery;
        request.target = (newPath || oldPath) + (search === '' ? '' : `?${search}`);
      },
      response: null,
    };
  },
);

export const urlFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if all parts of the URL that are set here match.',
    required: ['modifier'],
    properties: {
      ...addressParts,
      host: { ...addressParts.host, description: 'Host name or IP address, with the port. * matches one label.' },
      query: {
        ...addressParts.query,
        description: 'Query parameters and values that must all be present, in any order.',
      },
      ...filterFields,
    },
  },
  (config, place) => {
    const { scheme, path } = config;
    const labels = config.host === '' ? null : config.host.toLowerCase().split('.');
    const pairs = config.query === '' ? null : pairsOf(config.query);
    return onAddress(config as ElseFilter, place, (origin, target) => {
      const [ownPath, search] = split(target);
      const at = origin.indexOf('://');
      if (scheme !== '' && origin.slice(0, at) !== scheme.toLowerCase()) return false;
      if (labels !== null && !matchesLabels(labels, withoutUser(origin.slice(at + 3)))) return false;
      if (path !== '' && ownPath !== path && decoded(ownPath) !== path) return false;
      return pairs === null || pairsOf(search) === pairs;
    });
  },
);

export const urlRegexFilter = kind(
  {
    type: 'object',
    description: 'Applies a modifier if the complete URL, including its query, matches a regular expression.',
    required: ['regex', 'modifier'],
    properties: {
      regex: {
        type: 'string',
        description: 'Regular expression (RE2). Matches anywhere unless anchored with ^ and $.',
      },
      ...filterFields,
    },
  },
  (config, place) => {
    const pattern = place.pattern(config.regex, '/regex');
    return onAddress(config as ElseFilter, place, (origin, target) => pattern.test(origin + target));
  },
);

const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const;

export const portModifier = kind(
  {
    type: 'object',
    description: 'Changes the port of the request URL and of the Host header.',
    properties: {
      port: { ...port, description: 'Port number.' },
      defaultForScheme: { type: 'boolean', description: 'Uses 80 for http and 443 for https.', default: false },
      remove: {
        type: 'boolean',
        description: "Removes the port, so that the scheme's default port applies.",
        default: false,
      },
      scope: scopeOf('request'),
    },
  },
  ({ port, defaultForScheme, remove }, place) => {
    if ([port !== undefined, defaultForScheme, remove].filter(Boolean).length !== 1) {
      throw place.fault('', 'exactly one of "port", "defaultForScheme" and "remove" must be set');
    }
    return {
      request(request) {
        const url = new URL(request.origin);
        url.port = port === undefined ? '' : String(port);
        const user = url.username === '' ? '' : `${url.username}${url.password && `:${url.password}`}@`;
        request.origin = `${url.protocol}//${user}${url.host}`;
        request.host = null;
      },
      response: null,
    };
  },
);

export const portFilter = kind(
  {
    type: 'object',
    description: 'Applies one of two modifiers, depending on the port of the request URL.',
    required: ['port', 'modifier'],
    properties: {
      port: { ...port, description: "Port number. URLs without a port have the scheme's default port." },
      ...filterFields,
    },
  },
  (config, place) =>
    onAddress(config, place, (origin) => {
      const { port, protocol } = new URL(origin);
      return config.port === (Number(port) || (protocol === 'https:' ? 443 : 80));
    }),
);

/** Creates a filter by the address of the request, for either side. */
function onAddress(config: ElseFilter, place: Place, matches: (origin: string, target: string) => boolean) {
  return filter(config, place, {
    request: ({ origin, target }) => matches(origin, target),
    response: (_reply, { origin, target }) => matches(origin, target),
  });
}

function split(target: string): [path: string, search: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function isAuthority(host: string): boolean {
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(`http://${host}`);
}

function withoutUser(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
}

/** Encodes characters that are not allowed in an address; existing escapes are kept. */
function encoded(text: string): string {
  return encodeURI(text.toWellFormed())
    .replace(/%25(?=[\dA-Fa-f]{2})/g, '%')
    .replaceAll('#', '%23');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Normalizes query parameters to a text that is equal for equal sets of pairs. */
function pairsOf(search: string): string {
  const pairs = [...Query.parse(search)].flatMap(([name, values]) =>
    values.map((value) => JSON.stringify([name, value])),
  );
  return pairs.sort().join();
}

function matchesLabels(wanted: readonly string[], authority: string): boolean {
  const labels = authority.split('.');
  return labels.length === wanted.length && wanted.every((label, at) => label === '*' || label === labels[at]);
}
