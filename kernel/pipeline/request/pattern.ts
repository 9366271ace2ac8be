import {
  type Call,
  claimsSlot,
  type Data,
  getKey,
  getPath,
  isObject,
  type PipeRequest,
  paramKey,
  Query,
  textOf,
} from '#contract';
import { encodePathSegment, encodeQueryComponent } from '../../contract/internal.ts';

/** Builds the encoded path and query of a backend request; undefined when a value from the client is missing. */
export type Pattern = (request: PipeRequest, call: Call) => string | undefined;

type Segment = (request: PipeRequest, call: Call) => string | undefined;

/** Encodes a value for its position in the URL; undefined for a value that cannot be made safe. */
type Encode = (value: string) => string | undefined;

/**
 * Compiles `url_pattern`. The pattern's own query is sent only when no parameters are forwarded.
 *
 * @param wildcard whether the endpoint ends in `/*`; the matched text is appended to the path.
 * @param keepsQuery whether the pattern's own query is always sent, replacing forwarded parameters of the same name.
 */
export function compilePattern(urlPattern: string, wildcard: boolean, keepsQuery = false): Pattern {
  const rooted = urlPattern.startsWith('/') ? urlPattern : `/${urlPattern}`;
  const mark = rooted.indexOf('?');
  const path = compilePath(mark < 0 ? rooted : rooted.slice(0, mark));
  const ownQuery =
    mark < 0 || mark === rooted.length - 1 ? null : compileText(rooted.slice(mark + 1), encodeQueryComponent);
  const fullPath: Segment = wildcard ? (request, call) => append(path(request, call), request.params.Wildcard) : path;
  return (request, call) => {
    const start = fullPath(request, call);
    if (start === undefined) return undefined;
    if (request.query.size > 0 && (ownQuery === null || !keepsQuery)) return `${start}?${request.query}`;
    if (ownQuery === null) return start;
    const query = ownQuery(request, call);
    if (query === undefined) return undefined;
    const others = request.query.size > 0 ? othersThan(query, request.query) : '';
    return others === '' ? `${start}?${query}` : `${start}?${query}&${others}`;
  };
}

/** Returns the forwarded parameters that are not in the pattern's own query. */
function othersThan(own: string, query: Query): string {
  const others = query.copy();
  for (const [name] of Query.parse(own)) others.delete(name);
  return others.toString();
}

const dotSegment = /\/\.{1,2}(?:[/;]|$)/;

/** Compiles a path. A value and its adjacent text can also form a dot segment. */
function compilePath(text: string): Segment {
  const path = compileText(text, encodeSegment);
  if (!/[^/]\{|\}[^/]/.test(text) || dotSegment.test(text)) return path;
  return (request, call) => {
    const made = path(request, call);
    return made !== undefined && dotSegment.test(made) ? undefined : made;
  };
}

/**
 * Compiles the check that a client's request has every value required by any backend of an endpoint, before any is
 * called: the values in their paths and hosts, and in their queries if these are sent.
 *
 * @returns null when no values are required.
 */
export function compileDemands(
  backends: readonly { readonly url_pattern: string; readonly host: readonly string[] }[],
): ((request: PipeRequest, call: Call) => boolean) | null {
  const always = backends.flatMap(({ url_pattern: pattern, host }) => [
    ...clientSegments(/^[^?]*/.exec(pattern)![0], encodeSegment),
    ...host.flatMap((text) => clientSegments(text, encodeHost)),
  ]);
  const withoutQuery = backends.flatMap(({ url_pattern: pattern }) =>
    clientSegments(/\?.*$|$/s.exec(pattern)![0], encodeQueryComponent),
  );
  if (always.length + withoutQuery.length === 0) return null;
  return (request, call) => {
    for (const section of always) if (section(request, call) === undefined) return false;
    if (request.query.size > 0) return true;
    for (const section of withoutQuery) if (section(request, call) === undefined) return false;
    return true;
  };
}

/** Compiles the placeholders of a text whose values come from the client. */
function clientSegments(text: string, encode: Encode): Segment[] {
  return splitPlaceholders(text)
    .filter((_piece, at) => at % 2 === 1)
    .map((piece) => ({ piece, placeholder: parsePlaceholder(piece) }))
    .filter(({ placeholder: { from } }) => from === 'path' || from === 'header' || from === 'query')
    .map(({ piece, placeholder }) => compileValue(placeholder, piece, encode));
}

/** Compiles a text with placeholders; `encode` makes a value safe for its position. */
export function compileText(text: string, encode: Encode): Segment {
  const pieces = splitPlaceholders(text);
  if (pieces.length === 1) {
    const constant = illegalToEscapes(text);
    return () => constant;
  }
  const sections = pieces.map((piece, at): Segment => {
    if (at % 2 === 1) return compileValue(parsePlaceholder(piece), piece, encode);
    const constant = illegalToEscapes(piece);
    return () => constant;
  });
  return (request, call) => {
    let result = '';
    for (const section of sections) {
      const value = section(request, call);
      if (value === undefined) return undefined;
      result += value;
    }
    return result;
  };
}

function compileValue(placeholder: Placeholder, written: string, encode: Encode): Segment {
  switch (placeholder.from) {
    case 'path': {
      const key = paramKey(placeholder.name);
      return (request) => encode(request.params[key] ?? '');
    }
    case 'earlier': {
      const key = paramKey(written);
      return (request, call) => {
        const data = request.earlier[placeholder.index]?.data;
        const value = data ? getPath(data, placeholder.path) : undefined;
        if (value !== undefined) return illegalToEscapes(textOf(value));
        // A component that contains the pipe may have set the value as a parameter.
        const given = request.params[key];
        if (given !== undefined) return encode(given);
        call.log.warning(`{${written}} is missing in the response of backend ${placeholder.index}`);
        return '';
      };
    }
    case 'claims':
      return (_request, call) => {
        const value = findClaim(call.get(claimsSlot), placeholder.name);
        if (value !== undefined) return encode(textOf(value));
        call.log.debug(() => `the token has no claim for {${written}}`);
        return encode(`{${written}}`);
      };
    case 'header':
      return (request) => encodeMaybe(request.client.headers.getAll(placeholder.name)[placeholder.position], encode);
    case 'query':
      return (request) => encodeMaybe(request.client.query.getAll(placeholder.name)[placeholder.position], encode);
  }
}

function encodeMaybe(value: string | undefined, encode: Encode): string | undefined {
  return value === undefined ? undefined : encode(value);
}

/** A dot segment behind or before a slash or backslash, which many servers read as separators even when they are escaped. */
const dotsWithin = /(?:^|[/\\])\.{1,2}(?:[;/\\]|$)/;

/** Rejects dot segments, which would address a different resource than the pattern, even when escaped. */
function encodeSegment(value: string): string | undefined {
  const isDots = value.startsWith('.') && /^\.{1,2}(?:;|$)/.test(value);
  if (isDots || value === '') return undefined;
  const encoded = encodePathSegment(value);
  // Slashes and backslashes are escaped, so a value that stays unchanged contains none.
  return encoded !== value && dotsWithin.test(value) ? undefined : encoded;
}

/** Encodes the value of a placeholder in a host, which may be followed by a path. */
export function encodeHost(value: string): string | undefined {
  return /^\.{0,2}$/.test(value) ? undefined : encodeURIComponent(value.toWellFormed());
}

/** Finds a claim by its exact name, otherwise by its dotted path. */
function findClaim(claims: Readonly<Record<string, Data>> | undefined, name: string): Data | undefined {
  if (!claims || !isObject(claims)) return undefined;
  return getKey(claims, name) ?? getPath(claims, name.split('.'));
}

/** Joins the path and the text matched by the wildcard with exactly one slash. */
function append(path: string | undefined, rest: string | undefined): string | undefined {
  if (path === undefined || rest === undefined) return path;
  if (path.endsWith('/')) return path + rest.replace(/^\//, '');
  return rest.startsWith('/') ? path + rest : `${path}/${rest}`;
}

const illegal = /[^\w\-.~:/?[\]@!$&'()*+,;=%]/;

/** Escapes only characters that are not allowed in a URL; existing escapes are kept. */
function illegalToEscapes(text: string): string {
  if (!illegal.test(text)) return text;
  return text.toWellFormed().replace(/[^\w\-.~:/?[\]@!$&'()*+,;=%]+/gu, encodeURIComponent);
}

/** A name in braces in `url_pattern` or `host`, and the source of its value. */
export type Placeholder =
  | { readonly from: 'path'; readonly name: string }
  | { readonly from: 'earlier'; readonly index: number; readonly path: readonly string[] }
  | { readonly from: 'claims'; readonly name: string }
  | { readonly from: 'header'; readonly name: string; readonly position: number }
  | { readonly from: 'query'; readonly name: string; readonly position: number };

/** Parses the text between braces. Anything unknown is the name of a path variable. */
export function parsePlaceholder(text: string): Placeholder {
  const earlier = /^resp(\d+)_(.+)$/.exec(text);
  if (earlier) return { from: 'earlier', index: Number(earlier[1]), path: earlier[2]!.split('.') };
  if (text.startsWith('JWT.')) return { from: 'claims', name: text.slice(4) };
  const client = /^(input_headers|input_query_strings)\.(.+?)(?:\.(\d+))?$/.exec(text);
  if (client) {
    const position = client[3] === undefined ? 0 : Number(client[3]);
    if (client[1] === 'input_headers') return { from: 'header', name: client[2]!.toLowerCase(), position };
    return { from: 'query', name: client[2]!, position };
  }
  return { from: 'path', name: text };
}

/**
 * Splits a text at its placeholders: text at even positions, placeholders at odd ones. Braces that contain quotes are
 * text.
 */
export function splitPlaceholders(text: string): string[] {
  return text.split(/\{([^{}"]+)\}/);
}
