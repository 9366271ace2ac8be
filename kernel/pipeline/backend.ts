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
  type Wrap,
} from '#contract';
import { concurrently } from './concurrent.ts';
import { type Decoding, decoded } from './decode.ts';
import { fold } from './fold.ts';
import { mapReply } from './map-reply.ts';
import { withMessages } from './messages.ts';
import { compilePattern, compileText, encodeHost } from './pattern.ts';
import { compileBackendFilter } from './request.ts';
import { compileShape } from './shape.ts';
import { withTimeout } from './with-timeout.ts';

/** Counts what the backend at an index answers. */
export type CountBackend = (index: number, next: Step<PipeRequest>) => Step<PipeRequest>;

/** Whose pipe is folded. */
export interface BackendPlace {
  readonly endpoint: EndpointConfig;
  readonly backend: BackendConfig;
  readonly log: Log;
  /** Stands between the transport wraps and the protocol. */
  readonly counting?: Wrap<PipeRequest> | undefined;
}

/** Where a pipe is folded for one backend of an endpoint. */
export function placeOf(
  { log, counting }: { readonly log: Log; readonly counting?: CountBackend | undefined },
  endpoint: EndpointConfig,
  index: number,
): BackendPlace {
  const backend = endpoint.backend[index]!;
  return {
    endpoint,
    backend,
    log: log.at(logPrefix(endpoint, backend)),
    counting: counting && ((next) => counting(index, next)),
  };
}

/** Joined: a template would be kept as the tree of its parts, of several times that size. */
export function logPrefix({ method, endpoint: path }: EndpointConfig, backend: BackendConfig): string {
  return ['[BACKEND: ', method, ' ', path, ' -> ', backend.method, ' ', backend.url_pattern, '][Client]'].join('');
}

/** Everything one backend's pipe is made of. */
export interface BackendOptions extends BackendPlace {
  /** Attachments in order, outermost first, for each phase. */
  readonly backendWraps: readonly Wrap<PipeRequest>[];
  readonly transportWraps: readonly Wrap<PipeRequest>[];
  readonly protocol: NonNullable<AtBackend['protocol']>;
  /** Gives the backend's addresses one after another; null for a protocol that carries its own. */
  readonly pickHost: (() => string | undefined) | null;
  readonly customShape: AtBackend['shape'];
  /** What sees the messages of a stream, in order. */
  readonly messageHooks: readonly MessageHook[];
  /** How the body is read; a raw encoding leaves it alone. */
  readonly encoding: Encoding;
  /** How the client is written. */
  readonly output: Encoding;
  /** Nobody looks at the data of this endpoint's replies: bytes may pass, by themselves or as parts of others'. */
  readonly unread: boolean;
  /** The endpoint has no other backend: the request need not be copied. */
  readonly alone: boolean;
}

/** A backend's pipe that is folded when it is called first: of thousands of endpoints few are, and a pipe takes kilobytes. */
export function compileAtFirstCall(options: BackendOptions): Step<PipeRequest> {
  let step: Step<PipeRequest> | null = null;
  return (request, call) => {
    step ??= compileBackend(options);
    return step(request, call);
  };
}

/**
 * Folds one backend's pipe, outermost first: query filter, path, concurrent calls, host, header filter, backend wraps,
 * decoding and shaping, transport wraps, protocol.
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
  const addressed = withPath(options, filter.query, sent);
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
      pass: options.unread && encoding.name === output.name ? passing(options, shape) : null,
      isPart: !options.alone,
      name: `${backend.method} ${backend.url_pattern}`,
      log: options.log,
    },
    transport,
  );
}

/** What proves bytes that need not be decoded, and shapes them; null where they must be. */
function passing({ backend, encoding, customShape }: BackendOptions, shape: unknown): Decoding['pass'] {
  if (shape === null) return encoding.passes?.bind(encoding) ?? null;
  return (customShape ? null : encoding.shapes?.(backend)) ?? null;
}

/** Shapes the data of a protocol that answers with data. */
function shaped(shape: (data: DataObject) => DataObject, call: Step<PipeRequest>): Step<PipeRequest> {
  return after<PipeRequest>((reply) => {
    if (reply.data) reply.data = shape(reply.data);
  })(call);
}

/** A `no-op` backend on a decoded endpoint: its body is kept for those who want the bytes, its data is empty. */
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

/** What a request is told that lacks what a backend's address is made of, or has nothing usable there. */
export function missingValue(): CallError {
  return new CallError('REQUEST_VALUE_MISSING', 'the request lacks a value that the backend requires', {
    view: { status: 400 },
  });
}

function atHost(
  { backend, pickHost }: BackendOptions,
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
    const host = pickHost();
    if (host === undefined) return Reply.failed(new BackendError('BACKEND_NO_HOSTS', 'no hosts available'));
    const origin = dynamic?.has(host) ? dynamic.get(host)!(request, call) : host;
    if (origin === undefined) return Reply.failed(missingValue());
    const slash = origin.indexOf('/', origin.indexOf('://') + 3);
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
