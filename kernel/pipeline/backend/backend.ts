import {
  type AtBackend,
  after,
  type BackendConfig,
  BackendError,
  CallError,
  type DataObject,
  type Encoding,
  type EndpointConfig,
  type Log,
  type MessageHook,
  type PipeRequest,
  Reply,
  type Step,
  triedHosts,
  type Wrap,
} from '#contract';
import { socketOfHost } from '../../net/address-range.ts';
import { compilePattern, compileText, encodeHost } from '../request/pattern.ts';
import { compileBackendFilter } from '../request/request.ts';
import { fold } from '../steps/fold.ts';
import { withTimeout } from '../steps/with-timeout.ts';
import type { PickHost } from './balance.ts';
import { concurrently } from './concurrent.ts';
import { type Decoding, decoded } from './decode.ts';
import { mapReply } from './map-reply.ts';
import { withMessages } from './messages.ts';
import { compileShape } from './shape.ts';

/** Counts the responses of the backend at an index. */
export type CountBackend = (index: number, next: Step<PipeRequest>) => Step<PipeRequest>;

/** A backend's place in the endpoint whose pipe is compiled. */
export interface BackendPlace {
  readonly endpoint: EndpointConfig;
  readonly backend: BackendConfig;
  readonly log: Log;
  /** Wrap that counts the responses of the backend, between the transport wraps and the protocol. */
  readonly counting?: Wrap<PipeRequest> | undefined;
  /** Index of the backend in the times of its endpoint's stages; undefined if they are not timed. */
  readonly timedAs?: number | undefined;
}

/** Context of the backends of an endpoint. */
export interface PlaceContext {
  readonly log: Log;
  readonly counting?: CountBackend | undefined;
  /** Whether the stages are timed. Default: false. */
  readonly isTimed?: boolean;
}

/** Returns the location of one backend of an endpoint. */
export function placeOf(
  { log, counting, isTimed }: PlaceContext,
  endpoint: EndpointConfig,
  index: number,
): BackendPlace {
  const backend = endpoint.backend[index]!;
  return {
    endpoint,
    backend,
    log: log.at(logPrefix(endpoint, backend)),
    counting: counting && ((next) => counting(index, next)),
    timedAs: isTimed ? index : undefined,
  };
}

/**
 * Uses `join`, because V8 stores the result of a template literal as a tree of its parts, which takes several times as
 * much memory.
 */
export function logPrefix({ method, endpoint: path }: EndpointConfig, backend: BackendConfig): string {
  return ['[BACKEND: ', method, ' ', path, ' -> ', backend.method, ' ', backend.url_pattern, '][Client]'].join('');
}

/** All parts of one backend's pipe. */
export interface BackendOptions extends BackendPlace {
  /** Wraps of the backend phase, outermost first; `transportWraps` are those of the transport phase. */
  readonly backendWraps: readonly Wrap<PipeRequest>[];
  readonly transportWraps: readonly Wrap<PipeRequest>[];
  readonly protocol: NonNullable<AtBackend['protocol']>;
  /** Wrap around the selection of the host; undefined for a single attempt. */
  readonly attempts?: AtBackend['attempts'];
  /** Returns the backend's addresses in turn; null for a protocol that has its own address. */
  readonly pickHost: PickHost | null;
  readonly customShape: AtBackend['shape'];
  /** Message hooks of a stream, in order. */
  readonly messageHooks: readonly MessageHook[];
  /** Encoding of the response body; a raw encoding leaves it unchanged. */
  readonly encoding: Encoding;
  /** Encoding of the response to the client. */
  readonly output: Encoding;
  /**
   * Whether no component reads the data of this endpoint's replies, so that bytes can pass, alone or merged with those
   * of other backends.
   */
  readonly unread: boolean;
  /** Whether this is the endpoint's only backend, so that the request need not be copied. */
  readonly alone: boolean;
}

/**
 * Compiles a backend's pipe on its first call: of thousands of endpoints only a few are called, and a compiled pipe
 * takes kilobytes.
 */
export function compileAtFirstCall(options: BackendOptions): Step<PipeRequest> {
  let step: Step<PipeRequest> | null = null;
  return (request, call) => {
    step ??= compileBackend(options);
    return step(request, call);
  };
}

/**
 * Combines the stages of one backend's pipe, outermost first: query filter, path, attempts, concurrent calls, host,
 * header filter, backend wraps, decoding and shaping, transport wraps, protocol.
 */
export function compileBackend(options: BackendOptions): Step<PipeRequest> {
  const { endpoint, backend } = options;
  const raw = options.output.raw === true;
  const filter = compileBackendFilter(backend.input_headers, backend.input_query_strings);
  const { call, replies } = options.protocol;
  const shape = raw ? null : compileShape(backend, options.customShape);
  const reached = replies === 'data' && shape ? shaped(shape, call) : call;
  const transport = fold(options.transportWraps, options.counting?.(reached) ?? reached);
  const reading = raw ? compileRaw(options, transport) : compileReading(options, shape, transport);
  const wrapped = fold(options.backendWraps, reading);
  const send = atHost(options, filter.headers, wrapped);
  const calls = raw ? 1 : endpoint.concurrent_calls;
  const timeoutMs = Math.min(backend.timeout ?? endpoint.timeout, endpoint.timeout);
  const sent = calls > 1 ? concurrently(calls, send, timeoutMs) : send;
  const addressed = withPath(options, filter.query, options.attempts?.(sent) ?? sent);
  return backend.timeout && backend.timeout < endpoint.timeout ? withTimeout(backend.timeout, addressed) : addressed;
}

function compileRaw(
  { backend, output, customShape, messageHooks }: BackendOptions,
  transport: Step<PipeRequest>,
): Step<PipeRequest> {
  if (!output.messages) return transport;
  const looking = { messages: output.messages, shape: compileShape(backend, customShape), hooks: messageHooks };
  return withMessages(looking, transport);
}

function compileReading(
  options: BackendOptions,
  shape: Decoding['shape'],
  transport: Step<PipeRequest>,
): Step<PipeRequest> {
  const { backend, encoding, output } = options;
  if (encoding.raw) return unreadable(transport);
  return decoded(
    {
      encoding,
      asCollection: backend.is_collection ?? false,
      shape,
      pass: options.unread && formatOf(encoding) === formatOf(output) ? passing(options, shape) : null,
      isPart: !options.alone,
      name: `${backend.method} ${backend.url_pattern}`,
      log: options.log,
    },
    transport,
  );
}

function formatOf({ name, aliasOf = name }: Encoding): string {
  return aliasOf;
}

/** Returns a function that validates and shapes bytes without decoding them; null when they must be decoded. */
function passing({ backend, encoding, customShape }: BackendOptions, shape: unknown): Decoding['pass'] {
  if (shape === null) return encoding.passes?.bind(encoding) ?? null;
  return (customShape ? null : encoding.shapes?.(backend)) ?? null;
}

/** Shapes the data of a protocol that returns decoded data. */
function shaped(shape: (data: DataObject) => DataObject, call: Step<PipeRequest>): Step<PipeRequest> {
  return after<PipeRequest>((reply) => {
    if (reply.data) reply.data = shape(reply.data);
  })(call);
}

/**
 * Handles a `no-op` backend on a decoded endpoint: its body is kept for components that read bytes; its data is empty.
 */
function unreadable(transport: Step<PipeRequest>): Step<PipeRequest> {
  const empty = (reply: Reply): Reply => {
    if (!reply.failed) reply.data ??= {};
    return reply;
  };
  return mapReply(transport, empty);
}

function withPath(
  { endpoint, backend, alone, protocol }: BackendOptions,
  filterQuery: ((request: PipeRequest) => void) | null,
  next: Step<PipeRequest>,
): Step<PipeRequest> {
  const target = compilePattern(
    backend.url_pattern,
    endpoint.endpoint.endsWith('/*') || endpoint.endpoint === '/__catchall',
    protocol.keepsQuery,
  );
  const { method } = backend;
  const own = alone && endpoint.concurrent_calls === 1;
  return (request, call) => {
    const mine = own ? request : request.copy();
    if (method !== '') mine.method = method;
    filterQuery?.(mine);
    const path = target(mine, call);
    if (path === undefined) return Reply.failed(missingValue());
    mine.target = path;
    return next(mine, call);
  };
}

/** Error for a request that lacks a value used in a backend's address, or has an invalid one. */
export function missingValue(): CallError {
  return new CallError('REQUEST_VALUE_MISSING', 'the request lacks a value that the backend requires', {
    view: { status: 400 },
  });
}

function atHost(
  { backend, pickHost, attempts }: BackendOptions,
  filterHeaders: ((request: PipeRequest) => void) | null,
  next: Step<PipeRequest>,
): Step<PipeRequest> {
  if (pickHost === null) {
    if (filterHeaders === null) return next;
    return (request, call) => {
      filterHeaders(request);
      return next(request, call);
    };
  }
  const written = backend.host.filter((host) => host.includes('{'));
  const dynamic = written.length > 0 ? new Map(written.map((host) => [host, compileText(host, encodeHost)])) : null;
  return (request, call) => {
    const tried = attempts && call.get(triedHosts);
    const host = pickHost(tried);
    if (host === undefined) return Reply.failed(new BackendError('BACKEND_NO_HOSTS', 'no hosts available'));
    tried?.push(host);
    const origin = dynamic?.has(host) ? dynamic.get(host)!(request, call) : host;
    if (origin === undefined) return Reply.failed(missingValue());
    const slash = socketOfHost(origin) === null ? origin.indexOf('/', origin.indexOf('://') + 3) : -1;
    if (slash < 0) {
      request.origin = origin;
    } else {
      request.origin = origin.slice(0, slash);
      request.target = origin.slice(slash).replace(/\/$/, '') + request.target;
    }
    if (dynamic && !URL.canParse(request.origin)) {
      return Reply.failed(new BackendError('BACKEND_ADDRESS', 'invalid backend address'));
    }
    filterHeaders?.(request);
    return next(request, call);
  };
}
