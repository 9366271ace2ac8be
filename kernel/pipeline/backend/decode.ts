import {
  BackendError,
  ByteStream,
  type Call,
  type DataObject,
  discard,
  type Encoding,
  gunzipBody,
  HeaderBag,
  type Log,
  type Passed,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';
import { PluginFailure } from '../../containment/plugin-fault.ts';
import { mapReply } from './map-reply.ts';

/** Largest decoded body of one backend, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Settings of one backend's decoder. */
export interface Decoding {
  readonly encoding: Encoding;
  readonly asCollection: boolean;
  readonly shape: ((data: DataObject) => DataObject) | null;
  /**
   * Validates bytes instead of decoding them, if their data is not read and the client receives the same encoding; null
   * if they must be decoded.
   */
  readonly pass: NonNullable<Encoding['passes']> | null;
  /** Whether the bytes are merged with those of other backends. */
  readonly isPart: boolean;
  /** Name of the backend call in logs and errors: `GET /pattern`. */
  readonly name: string;
  /** Logs the actual status of a failed backend, at WARNING. */
  readonly log: Log;
}

/**
 * Turns raw replies into decoded ones. Only 200 and 201 are successes; any other status, or a body that cannot be
 * parsed, gives a failed reply. A reply that a transport wrap has already decoded is returned unchanged.
 */
export function decoded(decoding: Decoding, transport: Step<PipeRequest>): Step<PipeRequest> {
  const ofWhole = decoding.pass ? { ...decoding, pass: provingOnce(decoding.pass) } : decoding;
  return mapReply(transport, (raw, request, call) =>
    decode(raw, raw.body instanceof Uint8Array ? ofWhole : decoding, request, call),
  );
}

/** Validates the same bytes only once: a cached body is always the same, unmodified object. */
function provingOnce(pass: NonNullable<Decoding['pass']>): NonNullable<Decoding['pass']> {
  let proved: WeakMap<Uint8Array, Passed> | null = null;
  return (bytes, asCollection) => {
    const before = proved?.get(bytes);
    if (before) return before;
    const passed = pass(bytes, asCollection);
    proved ??= new WeakMap();
    if (passed) proved.set(bytes, passed);
    return passed;
  };
}

function decode(raw: Reply, decoding: Decoding, request: PipeRequest, call: Call): Reply | Promise<Reply> {
  if (raw.errors.length > 0) return logStatus(raw, decoding.log);
  if (raw.data !== null || raw.complete === null) return raw;
  if (raw.status !== 200 && raw.status !== 201) return badStatus(raw, decoding, request);
  const bytes = raw.body instanceof ByteStream ? raw.body.collect(BODY_LIMIT_BYTES) : (raw.body ?? noBytes);
  if (bytes instanceof Promise) {
    return bytes.then(
      (all) => read(all, raw, decoding),
      (error) => Reply.failed(call.reason ? toCallError(call.reason) : toBackendError(error)),
    );
  }
  return read(bytes, raw, decoding);
}

const noBytes = new Uint8Array(0);

function badStatus(raw: Reply, { name, log }: Decoding, request: PipeRequest): Reply {
  discard(raw.body);
  const url = withoutUser(request.origin) + request.target;
  const text = `invalid status code ${raw.status} [${name}]: ${url}`;
  return logStatus(Reply.failed(new BackendError('BACKEND_STATUS', text, { upstreamStatus: raw.status })), log);
}

/** Removes user name and password from an address, as they must not appear in logs and responses. */
function withoutUser(origin: string): string {
  const at = origin.lastIndexOf('@');
  return at < 0 ? origin : origin.slice(0, origin.indexOf('://') + 3) + origin.slice(at + 1);
}

/** Logs the actual status of the backend, which the client does not see. */
function logStatus(reply: Reply, log: Log): Reply {
  for (const error of reply.errors) {
    if (error instanceof BackendError && error.upstreamStatus !== undefined)
      log.warning(`Status: ${error.upstreamStatus}`);
  }
  return reply;
}

function read(bytes: Uint8Array, raw: Reply, decoding: Decoding): Reply | Promise<Reply> {
  const plain = gunzipBody(bytes, raw.headers, BODY_LIMIT_BYTES);
  if (!(plain instanceof Promise)) return parse(plain, decoding);
  return plain.then(
    (all) => parse(all, decoding),
    (error) => Reply.failed(toBackendError(error)),
  );
}

function parse(bytes: Uint8Array, { encoding, asCollection, shape, pass, isPart }: Decoding): Reply {
  try {
    const passed = pass?.(bytes, asCollection);
    if (passed) {
      const reply = Reply.raw(200, new HeaderBag(['Content-Type', passed.contentType]), passed.body);
      // An empty body is complete if its bytes are merged with those of other backends.
      reply.complete = isPart || !passed.empty;
      return reply;
    }
    const data = encoding.decode!(bytes, asCollection);
    return Reply.data(data && shape ? shape(data) : data, data !== null);
  } catch (error) {
    return Reply.failed(error instanceof PluginFailure ? error : toBackendError(error));
  }
}

function toBackendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new BackendError('BACKEND_BODY', message, { cause: error });
}
