import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  type BackendConfig,
  Call,
  type ClientRequest,
  claimsSlot,
  type Encoding,
  HeaderBag,
  makeRequest,
  type PipeRequest,
  productNames,
  Reply,
  RequestBody,
} from '#contract';
import { joinPointer } from '../config/index.ts';
import { PASSING, silentLog } from '../contract/internal.ts';
import { compileBackend } from '../pipeline/backend/backend.ts';
import type { Route } from '../pipeline/compile/route.ts';
import { compileRequest, dropConnectionHeaders } from '../pipeline/request/request.ts';
import type { Stage } from '../pipeline/steps/stages.ts';
import { compileClientIp } from '../server/request/client-ip.ts';
import { compileRequestId } from '../server/request/id.ts';
import { version } from '../version.ts';
import { type FilePosition, type FindPosition, pointerOnly } from './file-position.ts';
import { type ForwardingDecision, headerDecisions, queryDecisions, usedInAddress } from './forwarding-decision.ts';
import { findMatch, type Matching } from './match.ts';
import { placeholderValuesFor } from './placeholder-values.ts';
import { pointerOf } from './routes.ts';
import type { Served } from './served.ts';

/** A sample request to explain; it is never sent. */
export interface SampleRequest {
  readonly method: string;
  /** Request target, path and query as on the wire. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Client address. Default: `127.0.0.1`. */
  readonly ip?: string;
}

/** Request that would be sent to one backend. */
export interface Forwarded extends FilePosition {
  readonly method: string;
  /**
   * One URL for each host that the call may use. Values that only a real request provides are shown as placeholders.
   */
  readonly urls: readonly string[];
  /** Headers as passed to the backend's client, which adds `Host`, the body framing and its own `Accept-Encoding`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: boolean;
  readonly hosts: readonly string[];
  /** Service discovery of the hosts. */
  readonly sd: string;
  /** Encoding of the backend's response. */
  readonly encoding: string;
  /** True for a shadow backend, whose response is discarded. */
  readonly shadow: boolean;
  /** Condition of the call; null if the backend is always called. */
  readonly condition: string | null;
  /** Components that see the request, and may change it, outermost first. */
  readonly stages: readonly Stage[];
  readonly clientHeaders: readonly ForwardingDecision[];
  readonly clientQuery: readonly ForwardingDecision[];
  /** True when forwarded parameters replace the query of `url_pattern`. */
  readonly patternQueryLost: boolean;
  /** Reason why no request is sent; null when one is sent. */
  readonly refused: string | null;
}

export interface Explanation extends Matching {
  /** Components that wrap all requests, outermost first. */
  readonly service: readonly string[];
  /** Components that wrap all backends, outermost first. */
  readonly stages: readonly Stage[];
  /** Encoding of the response; null when no endpoint matches the request. */
  readonly outputEncoding: string | null;
  /** One entry per backend, in order of declaration. */
  readonly forwarded: readonly Forwarded[];
}

/**
 * Explains how a request would be processed: the endpoint, the pipe, and the request to each backend. Uses the code
 * that serves requests, but without calling components, so their changes are not shown.
 */
export async function explainRequest(
  served: Served,
  sample: SampleRequest,
  position: FindPosition = pointerOnly,
): Promise<Explanation> {
  const { config, compiled } = served;
  const message = sampleMessage(sample, config.port);
  const { host: requestedHost, 'content-type': type, 'x-forwarded-prefix': prefix } = message.headers;
  const match = await findMatch(served, sample.method, sample.target, position, {
    ...(requestedHost !== undefined && { host: requestedHost }),
    ...(type !== undefined && { 'content-type': type }),
    ...(typeof prefix === 'string' && { 'x-forwarded-prefix': prefix }),
  });
  compileRequestId(config.router)?.(message, new Call());
  const { winner: route, target, params, ...matching } = match;
  const service = compiled.service.filter(({ at }) => at.middleware || at.request).map(({ plugin }) => plugin.name);
  if (!route || matching.match.kind !== 'route') {
    return { ...matching, service, stages: [], outputEncoding: null, forwarded: [] };
  }
  const { path, search, host } = target!;
  if (host !== undefined) message.headers.host = host;
  const body = hasBody(message) ? RequestBody.of('') : null;
  const client = makeRequest({
    method: sample.method,
    path,
    search,
    params,
    headers: new HeaderBag(message.rawHeaders),
    ip: compileClientIp(config.router)(message),
    host: message.headers.host ?? '',
    body,
  });
  const received = client.with({ headers: client.headers.copy() });
  dropConnectionHeaders(received.headers.list);
  const { agent } = productNames(config.router, version);
  const names = { agent, requestId: config.router.request_id, addCertificate: null };
  const entering = compileRequest(route.endpoint, names, route.sets)(received);
  const pointer = joinPointer(pointerOf(served, route), 'backend');
  const forwarded = route.endpoint.backend.map((backend, index) => ({
    ...forward(route, backend, index, entering, client),
    ...position(joinPointer(pointer, index)),
  }));
  return {
    ...matching,
    service,
    stages: route.stages.around,
    outputEncoding: matching.match.route.outputEncoding,
    forwarded,
  };
}

function sampleMessage(
  { method, target, headers = [], ip = '127.0.0.1' }: SampleRequest,
  port: number,
): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: ip });
  const message = new IncomingMessage(socket);
  message.method = method;
  message.url = target;
  for (const [name, value] of headers) message.rawHeaders.push(name, value);
  // Headers of a request are parsed by Node.js; here they are set directly. Of repeated headers, the first one counts.
  const named = headers.toReversed().map(([name, value]) => [name.toLowerCase(), value]);
  message.headers = { host: `localhost:${port}`, ...Object.fromEntries(named) };
  return message;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Encoding of the artificial reply, which needs no decoding. */
const undecoded: Encoding = { name: PASSING, raw: true };

/** Sends the request through the backend's own pipe, in which a recorder replaces the client. */
function forward(
  route: Route,
  backend: BackendConfig,
  index: number,
  entering: PipeRequest,
  client: ClientRequest,
): Omit<Forwarded, keyof FilePosition> {
  const { endpoint, output } = route;
  const { stages, condition, hostless } = route.stages.backends[index]!;
  const { earlier, claims, params, restore } = placeholderValuesFor(backend);
  const call = new Call();
  call.set(claimsSlot, claims);
  const isListed = backend.sd === 'static' && !hostless;
  const sent: PipeRequest[] = [];
  let refused: string | null = null;
  for (const host of isListed ? new Set(backend.host) : [null]) {
    const send = compileBackend({
      endpoint,
      backend,
      log: silentLog,
      backendWraps: [],
      transportWraps: [],
      protocol: {
        call: (request) => {
          sent.push(request);
          return new Reply(200);
        },
      },
      pickHost: host === null ? null : () => host,
      customShape: undefined,
      messageHooks: [],
      encoding: undecoded,
      output: undecoded,
      unread: true,
      alone: false,
    });
    const request = entering.copy();
    request.earlier = earlier;
    // The parameters of a gRPC message are not in the path.
    request.params = { ...params, ...request.params };
    const reply = send(request, call) as Reply;
    refused ??= reply.errors[0]?.message ?? null;
  }
  const first = sent[0];
  const used = usedInAddress(backend, first?.query.size === 0);
  const discovered = isListed || hostless ? '' : `{${backend.sd}:${backend.host[0]}}`;
  return {
    method: first?.method ?? backend.method,
    urls: sent.map(({ origin, target }) => restore(origin + discovered + target)),
    headers: first ? [...first.headers] : [],
    body: first !== undefined && first.body !== null,
    hosts: hostless ? [] : backend.host,
    sd: backend.sd,
    encoding: output.raw ? output.name : backend.encoding,
    shadow: stages.some(({ as }) => as === 'shadow'),
    condition,
    stages,
    clientHeaders: first ? headerDecisions(client, route, backend, first, used.headers) : [],
    clientQuery: first ? queryDecisions(client, endpoint, first, used.parameters) : [],
    patternQueryLost: first !== undefined && first.query.size > 0 && /\?./.test(backend.url_pattern),
    refused,
  };
}
