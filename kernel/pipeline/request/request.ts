import {
  type ClientRequest,
  canonicalHeaderName,
  type EndpointConfig,
  HeaderBag,
  isHopByHop,
  PipeRequest,
  Query,
} from '#contract';
import type { AddCertificateHeader } from './client-certificate.ts';

/** Headers that the gateway sets itself: a client's header of that name is never forwarded, even if it is listed. */
export const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-via',
]);

/** Headers that describe the body and are forwarded with it. */
export const bodyHeaders: ReadonlySet<string> = new Set(['content-type', 'content-encoding']);

/** Headers of the gateway that a similar client header, with `_` or `.` for `-`, could override at some backends. */
const guardedTwins = new Set([
  ...ownHeaders,
  ...bodyHeaders,
  'user-agent',
  'accept-encoding',
  'authorization',
  'cookie',
]);

/** Names and headers that the gateway adds to requests. */
interface OwnNames {
  /** The gateway's `User-Agent`. */
  readonly agent: string;
  /** Name of the request ID header; empty for none. */
  readonly requestId: string;
  /** Adds the header with the client's certificate; null if backends do not receive this header. */
  readonly addCertificate: AddCertificateHeader | null;
}

/**
 * Compiles the rules for the headers and parameters that an endpoint forwards into a function that derives the pipe's
 * request from the client's.
 *
 * @param sets headers that components set, in lowercase.
 */
export function compileRequest(
  endpoint: EndpointConfig,
  { agent, requestId, addCertificate }: OwnNames,
  sets: ReadonlySet<string>,
): (client: ClientRequest) => PipeRequest {
  const pickHeaders =
    requestId === ''
      ? compileHeaders(endpoint.input_headers, sets)
      : compileHeaders([...endpoint.input_headers, requestId], new Set([...sets, requestId.toLowerCase()]));
  const pickQuery = compileQuery(endpoint.input_query_strings);
  return (client) => {
    const headers = new HeaderBag();
    const { list } = headers;
    const forwardedAgent = pickHeaders(client.headers.list, list);
    if (forwardedAgent) list.push('X-Forwarded-Via', agent);
    else list.push('User-Agent', agent);
    // Clients that are connected over a Unix socket have no address.
    if (client.ip !== '') list.push('X-Forwarded-For', client.ip);
    list.push('X-Forwarded-Host', client.host);
    if (addCertificate) addCertificate(client, list);
    if (client.body) copyNamed(client.headers.list, list, bodyHeaders);
    return new PipeRequest(client, client.params, pickQuery(client), headers, client.body);
  };
}

type PickHeaders = (from: readonly string[], to: string[]) => boolean;

/** Copies the listed headers. @returns true if the client's `User-Agent` was among them. */
function compileHeaders(names: readonly string[], sets: ReadonlySet<string>): PickHeaders {
  if (names.length === 0) return () => false;
  if (names.includes('*')) return (from, to) => copyAll(from, to, sets);
  const listed = new Set(names.map((name) => name.toLowerCase()));
  for (const name of listed) if (isHopByHop(name) || ownHeaders.has(name) || bodyHeaders.has(name)) listed.delete(name);
  if (listed.size === 0) return () => false;
  const guardsAgent = listed.has('user-agent');
  return (from, to) => copyNamed(from, to, listed) && guardsAgent && hasAgent(to);
}

function copyNamed(from: readonly string[], to: string[], names: ReadonlySet<string>): boolean {
  let copied = false;
  for (let at = 0; at < from.length; at += 2) {
    const name = from[at]!;
    if (!names.has(name.toLowerCase())) continue;
    to.push(canonicalHeaderName(name), from[at + 1]!);
    copied = true;
  }
  return copied;
}

function copyAll(from: readonly string[], to: string[], sets: ReadonlySet<string>): boolean {
  let agent = false;
  for (let at = 0; at < from.length; at += 2) {
    const lower = from[at]!.toLowerCase();
    if (isHopByHop(lower) || ownHeaders.has(lower) || bodyHeaders.has(lower)) continue;
    if (isLookAlike(lower, sets)) continue;
    if (lower === 'user-agent') agent = true;
    to.push(canonicalHeaderName(lower), from[at + 1]!);
  }
  return agent;
}

/**
 * Whether some backends would take a header name for one that the gateway or a component sets.
 * @param name in lowercase. @param sets headers that components set, in lowercase.
 */
export function isLookAlike(name: string, sets: ReadonlySet<string>): boolean {
  if (!/[_.]/.test(name)) return false;
  const meant = name.replace(/[_.]/g, '-');
  return guardedTwins.has(meant) || sets.has(meant) || isHopByHop(meant);
}

/**
 * Removes the headers listed in `Connection` from a received request, before any component runs: headers that
 * components set later are kept, whatever the client lists. The gateway's own, hop-by-hop and body headers stay.
 * @returns names of the removed headers, in lowercase; null for none.
 */
export function dropConnectionHeaders(list: string[]): ReadonlySet<string> | null {
  const names = connectionNames(list);
  if (names === null) return null;
  for (const name of names) if (isHopByHop(name) || ownHeaders.has(name) || bodyHeaders.has(name)) names.delete(name);
  if (names.size > 0) new HeaderBag(list).filter((name) => !names.has(name));
  return names;
}

/** Returns the header names that `Connection` declares as hop-by-hop; null for none. */
export function connectionNames(list: readonly string[]): Set<string> | null {
  let names: Set<string> | null = null;
  for (let at = 0; at < list.length; at += 2) {
    if (list[at]!.length !== 10 || list[at]!.toLowerCase() !== 'connection') continue;
    const value = list[at + 1]!.toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    names ??= new Set();
    for (const name of value.split(',')) names.add(name.trim());
  }
  return names;
}

function hasAgent(list: readonly string[]): boolean {
  for (let at = 0; at < list.length; at += 2) if (list[at] === 'User-Agent') return true;
  return false;
}

function compileQuery(names: readonly string[]): (client: ClientRequest) => Query {
  if (names.length === 0) return () => new Query();
  if (names.includes('*')) return (client) => (client.search === '' ? new Query() : client.query.copy());
  return (client) => (client.search === '' ? new Query() : client.query.pick(names));
}

/**
 * Compiles a backend's own lists, the second filter. `[]` does not filter, `[""]` drops everything; headers that
 * describe the body stay with it.
 */
export function compileBackendFilter(
  headerNames: readonly string[],
  queryNames: readonly string[],
): { headers: ((request: PipeRequest) => void) | null; query: ((request: PipeRequest) => void) | null } {
  const headers = new Set(headerNames.map((name) => name.toLowerCase()));
  const queries = queryNames.filter((name) => name !== '');
  return {
    headers:
      headers.size === 0
        ? null
        : (request) => {
            const hasBody = request.body !== null;
            request.headers.filter((name) => headers.has(name) || (hasBody && bodyHeaders.has(name)));
          },
    query:
      queryNames.length === 0
        ? null
        : (request) => {
            request.query = request.query.pick(queries);
          },
  };
}
