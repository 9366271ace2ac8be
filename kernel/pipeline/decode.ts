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
import { PluginFailure } from '../containment/plugin-fault.ts';
import { mapReply } from './map-reply.ts';

/** Longest decoded body of one backend, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** What the decoder of one backend needs to know. */
export interface Decoding {
  readonly encoding: Encoding;
  readonly asCollection: boolean;
  readonly shape: ((data: DataObject) => DataObject) | null;
  /** Nobody looks at the data and the client is written the same encoding: proves the bytes, which pass; null for data. */
  readonly pass: NonNullable<Encoding['passes']> | null;
  /** The bytes become a part of others'. */
  readonly isPart: boolean;
  /** The backend call as it is named in the log and in error texts: `GET /pattern`. */
  readonly name: string;
  /** Told the real status of a backend that failed by it, at WARNING. */
  readonly log: Log;
}

/**
 * The stage between raw and decoded replies. Only 200 and 201 are successes; everything else, and a body that does not
 * parse, is a failed reply (error rule E1). A reply that a transport wrap has decoded already goes through as it is.
 */
export function decoded(decoding: Decoding, transport: Step<PipeRequest>): Step<PipeRequest> {
  const ofWhole = decoding.pass ? { ...decoding, pass: provingOnce(decoding.pass) } : decoding;
  return mapReply(transport, (raw, request, call) =>
    decode(raw, raw.body instanceof Uint8Array ? ofWhole : decoding, request, call),
  );
}

/** Proves bytes once that come again: a body of a cache is the same object each time, and nobody changes it. */
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

/** An address without user name and password, which are nobody's business in logs and answers. */
function withoutUser(origin: string): string {
  const at = origin.lastIndexOf('@');
  return at < 0 ? origin : origin.slice(0, origin.indexOf('://') + 3) + origin.slice(at + 1);
}

/** The backend's real status goes to the log, since the client is not told it (error rule E1). */
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
      // Of a part it counts that it is there.
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
