import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  getPackedSettings,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasTooManyParameters, type ServiceConfig, timerMs } from '#contract';
import { outliveStreams } from '../../net/outlive-streams.ts';
import { abandon, endStalled } from '../exchange/context.ts';
import { deferContinue } from '../http1/expectation.ts';
import { isLength } from '../http1/framing.ts';
import { handConnection } from '../port/internals.ts';
import { Progress, pauseOf } from '../port/progress.ts';
import type { LogRefusedQuery } from '../port/refused-queries.ts';
import { portTimeouts } from '../port/timeouts.ts';
import { isOfType } from './destinations.ts';
import { closeLost } from './lost-connections.ts';
import { abort, connections, Http2Request, Http2Response } from './messages.ts';
import { UnreadBodies } from './unread-bodies.ts';

/** HTTP/2 server for connections with or without TLS. */
export interface Http2 {
  take(socket: Duplex): void;
  /**
   * Checks the limits of another configuration: header size for new connections, timeouts for new requests.
   * @param onlyType required prefix of content types; null accepts all.
   * @returns a function that applies the limits; it never throws.
   * @throws RangeError for limits that HTTP/2 cannot express.
   */
  prepare(config: ServiceConfig, onlyType: string | null): () => void;
  /** Completes requests in flight and accepts no others on existing connections. */
  drain(): void;
  /** Closes all connections immediately. */
  cut(): void;
}

/** Maximum number of concurrent requests per connection. */
const CONCURRENT_STREAMS = 250;
/** Flow-control window of a request body, in bytes: 64 KiB would limit an upload to 1 MB/s at a round trip of 50 ms. */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** Maximum number of headers in a request, including the four pseudo-headers. */
const HEADER_PAIRS = 2004;
const DEFAULT_HEADER_BYTES = 1024 * 1024;
const SESSION_MEMORY_MB = 16;

export function createHttp2(
  config: ServiceConfig,
  onlyType: string | null,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
  logRefusedQuery: LogRefusedQuery,
): Http2 {
  let limits = config;
  let served = onlyType;
  const sessions = new Set<ServerHttp2Session>();
  const watchLost = closeLost(sessions, () => limits.send_timeout);
  const server = createServer({
    settings: {
      maxConcurrentStreams: CONCURRENT_STREAMS,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: headerBytes(config),
    },
    maxHeaderListPairs: HEADER_PAIRS,
    maxSessionMemory: SESSION_MEMORY_MB,
    strictSingleValueFields: false,
    Http2ServerRequest: Http2Request as unknown as typeof Http2ServerRequest,
    Http2ServerResponse: Http2Response as unknown as typeof Http2ServerResponse,
  });
  const unread = new WeakMap<Http2Session, UnreadBodies>();
  /** The connection for which a session is being opened. */
  let taken: Duplex | null = null;
  server.on('session', (session) => {
    connections.set(session, taken!);
    sessions.add(session);
    watchLost();
    keepForStreams(session);
    session.once('close', () => {
      sessions.delete(session);
      connections.delete(session);
    });
    unread.set(session, new UnreadBodies(session));
    endWhenIdle(session, portTimeouts(limits).idleMs);
    endAfterRequests(session, limits.max_requests_per_connection);
  });
  const accept = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    limitTimes(request, response, limits);
    endWhenStalled(response as Http2Response, limits.send_timeout);
    endWhenReset(response);
    if (!request.stream.endAfterHeaders) {
      unread.get(request.stream.session!)?.add(request);
      dropBodyAfter(response as Http2Response, request as Http2Request);
    }
    const refusal = inspect(request, headerBytes(limits));
    if (refusal !== 0) {
      if (refusal === 414) logRefusedQuery(request);
      response.writeHead(refusal).end();
      return;
    }
    if (served !== null && !isOfType(request.headers['content-type'] ?? '', served)) {
      response.writeHead(415).end();
      return;
    }
    serve(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  };
  server.on('request', accept);
  server.on('checkContinue', (request, response) => {
    deferContinue(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    accept(request, response);
  });
  return {
    take(socket) {
      // Reading the address now makes Node.js keep it, so that it is available after the client has disconnected.
      void (socket as Socket).remoteAddress;
      taken = socket;
      handConnection(server, socket);
      taken = null;
    },
    prepare(next, type) {
      const settings = { maxHeaderListSize: headerBytes(next) };
      getPackedSettings(settings);
      return () => {
        limits = next;
        served = type;
        server.updateSettings(settings);
      };
    },
    drain() {
      for (const session of sessions) session.close();
    },
    cut() {
      for (const session of sessions) {
        session.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR);
        // Closes the connection of a session that has ended, because the session waits for the client to close its
        // side.
        connections.get(session)?.destroy();
      }
    },
  };
}

function headerBytes(config: ServiceConfig): number {
  return config.max_header_bytes || DEFAULT_HEADER_BYTES;
}

/**
 * Returns the status with which a request is rejected; 0 for a valid request, which has a host, a valid length, and a
 * head within the limit.
 */
function inspect({ headers, rawHeaders, url }: Http2ServerRequest, limitBytes: number): number {
  if (headers.host === undefined || !isLength(headers['content-length'] ?? '0')) return 400;
  if (hasTooManyParameters(url)) return 414;
  let bytes = url.length;
  // The size is counted as in HTTP/1, where each header also has a colon, a space and CRLF.
  for (const text of rawHeaders) bytes += text.length + 2;
  return bytes > limitBytes ? 431 : 0;
}

/** Keeps a session for as long as the memory of streams whose body, and so trailers, can follow their head. */
function keepForStreams(session: ServerHttp2Session): void {
  const outlive = outliveStreams(session);
  session.on('stream', (stream) => stream.endAfterHeaders || outlive(stream));
}

/**
 * Closes a connection that has been without a request for a while. The timeout of a session itself would keep every closed
 * connection in memory until it fires, because Node.js does not clear it.
 */
function endWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  if (idleMs === 0) return;
  let open = 0;
  const timer = setTimeout(() => {
    if (open === 0) session.close();
  }, timerMs(idleMs)).unref();
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => {
      open--;
      if (!session.destroyed) timer.refresh();
    });
  });
  session.once('close', () => clearTimeout(timer));
}

/** Closes a connection gracefully after a number of requests. @param limit 0 disables it. */
function endAfterRequests(session: ServerHttp2Session, limit: number): void {
  if (!(limit > 0)) return;
  let requests = 0;
  session.on('stream', () => {
    requests++;
    if (requests === limit) session.close();
  });
}

/**
 * Discards the rest of a body that was not fully read when the response is sent, as it would keep the request open
 * forever. With trailers, which follow the body, the stream is closed after them.
 */
function dropBodyAfter(response: Http2Response, request: Http2Request): void {
  const { stream } = request;
  const drop = (): void => dropBody(request);
  stream.once('finish', () => (response.hasTrailers ? stream.once('wantTrailers', () => setImmediate(drop)) : drop()));
}

function dropBody(request: Http2Request): void {
  const { stream } = request;
  if (stream.destroyed) return;
  if (request.readableEnded) return;
  request.breakOff();
  request.resume();
  if (stream.state.remoteClose !== 1) stream.close(constants.NGHTTP2_NO_ERROR);
}

/**
 * Ends a stream that the client resets with code 0 (NO_ERROR): Node.js would wait for its body to be read and its
 * response to be sent, neither of which can happen anymore.
 */
function endWhenReset({ stream }: Http2ServerResponse): void {
  const end = (): void => {
    if (stream.closed) stream.destroy();
  };
  // Node.js emits 'aborted' if the response is incomplete, and 'end' if all of it waits for the client's flow-control
  // window.
  stream.once('aborted', () => setImmediate(end));
  stream.once('end', end);
}

/** Aborts a response whose client stops reading. @param limitMs 0 disables the limit. */
function endWhenStalled(response: Http2Response, limitMs: number): void {
  if (!(limitMs > 0)) return;
  const { stream } = response;
  const progress = new Progress();
  const look = (): void => {
    if (progress.stalledMs(response.taken, performance.now()) < limitMs) {
      timer.refresh();
      return;
    }
    endStalled(response.req as unknown as IncomingMessage, limitMs);
    abort(stream);
  };
  const timer = setTimeout(look, pauseOf(limitMs));
  stream.once('close', () => clearTimeout(timer));
}

/**
 * Applies `read_timeout` and `write_timeout` to one request: it is aborted when one expires; the connection stays open.
 */
function limitTimes(request: Http2ServerRequest, response: Http2ServerResponse, limits: ServiceConfig): void {
  const { read_timeout: readMs, write_timeout: writeMs } = limits;
  const { stream } = response;
  const giveUp = (): void => {
    abandon(request as unknown as IncomingMessage, 503);
    abort(stream);
  };
  const limit = (milliseconds: number) => (milliseconds > 0 ? setTimeout(giveUp, timerMs(milliseconds)) : undefined);
  const writing = limit(writeMs);
  const reading = stream.endAfterHeaders ? undefined : limit(readMs);
  if (reading) request.once('end', () => clearTimeout(reading));
  if (reading || writing) {
    stream.once('close', () => {
      clearTimeout(reading);
      clearTimeout(writing);
    });
  }
}
