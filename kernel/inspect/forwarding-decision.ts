import {
  type BackendConfig,
  type ClientRequest,
  canonicalHeaderName,
  type EndpointConfig,
  isHopByHop,
  type PipeRequest,
} from '#contract';
import type { Route } from '../pipeline/compile/route.ts';
import { parsePlaceholder, splitPlaceholders } from '../pipeline/request/pattern.ts';
import { bodyHeaders, connectionNames, isLookAlike, ownHeaders } from '../pipeline/request/request.ts';

/** Decision whether a header or parameter of the client's request reaches a backend, unchanged or within the address. */
export interface ForwardingDecision {
  readonly name: string;
  readonly passes: boolean;
  /** Reason why the header or parameter is not forwarded; null when it is. */
  readonly why: string | null;
}

/** Input of the functions that determine the reason. Names are in lowercase. */
interface Case {
  readonly name: string;
  readonly hasBody: boolean;
  readonly connection: ReadonlySet<string> | null;
  readonly listed: ReadonlySet<string>;
  readonly backend: BackendConfig;
  readonly sets: ReadonlySet<string>;
}

/** Reasons why a header is not forwarded. The first one that applies is reported. */
const headerReasons: readonly (readonly [applies: (match: Case) => boolean, why: string])[] = [
  [({ name }) => ownHeaders.has(name), 'the gateway sets this header itself'],
  [({ name }) => isHopByHop(name), 'the header belongs to the connection'],
  [({ name, connection }) => connection?.has(name) === true, 'the Connection header names this header'],
  [({ name, hasBody }) => bodyHeaders.has(name) && !hasBody, 'the header describes a body, but the request has none'],
  [({ name, listed }) => !listed.has('*') && !listed.has(name), 'not in input_headers of the endpoint'],
  [
    ({ name, listed, sets }) => listed.has('*') && isLookAlike(name, sets),
    'some backends treat this name as a header set by the gateway or a component',
  ],
  [({ backend }) => backend.input_headers.length > 0, 'not in input_headers of the backend'],
];

/** Parts of the client's request used in the address of a backend. @param withQuery whether the pattern's query is sent. */
export function usedInAddress(
  { url_pattern: pattern, host }: BackendConfig,
  withQuery: boolean,
): { readonly headers: ReadonlySet<string>; readonly parameters: ReadonlySet<string> } {
  const sent = withQuery ? pattern : /^[^?]*/.exec(pattern)![0];
  const placeholders = [sent, ...host]
    .flatMap((text) => splitPlaceholders(text).filter((_piece, at) => at % 2 === 1))
    .map(parsePlaceholder);
  const namesFrom = (from: 'header' | 'query') =>
    new Set(placeholders.flatMap((placeholder) => (placeholder.from === from ? [placeholder.name] : [])));
  return { headers: namesFrom('header'), parameters: namesFrom('query') };
}

/** Decides for each client header whether it was sent. @param used names of the headers used in the address. */
export function headerDecisions(
  client: ClientRequest,
  { endpoint, sets }: Pick<Route, 'endpoint' | 'sets'>,
  backend: BackendConfig,
  sent: PipeRequest,
  used: ReadonlySet<string>,
): ForwardingDecision[] {
  const given = { connection: connectionNames(client.headers.list), hasBody: client.body !== null, backend, sets };
  const listed = new Set(endpoint.input_headers.map((name) => name.toLowerCase()));
  const names = new Set([...client.headers].map(([name]) => name.toLowerCase()));
  return [...names].map((name) => {
    const arrived = sent.headers.getAll(name);
    const isSent = !ownHeaders.has(name) && client.headers.getAll(name).every((value) => arrived.includes(value));
    const passes = isSent || used.has(name);
    const reason = headerReasons.find(([applies]) => applies({ ...given, name, listed }))?.[1];
    return { name: canonicalHeaderName(name), passes, why: passes ? null : (reason ?? 'dropped') };
  });
}

/** Decides for each client query parameter whether it was sent. */
export function queryDecisions(
  client: ClientRequest,
  endpoint: EndpointConfig,
  sent: PipeRequest,
  used: ReadonlySet<string>,
): ForwardingDecision[] {
  const listed = new Set(endpoint.input_query_strings);
  return [...client.query].map(([name]) => {
    const passes = sent.query.has(name) || used.has(name);
    const level = listed.has('*') || listed.has(name) ? 'backend' : 'endpoint';
    return { name, passes, why: passes ? null : `not in input_query_strings of the ${level}` };
  });
}
