import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  getPackedSettings,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasTooManyParameters, type ServiceConfig, timerMs } from '#contract';
import { abandon, endStalled } from './exchange-context.ts';
import { deferContinue } from './expectation.ts';
import { isLength } from './framing.ts';
import { isOfType } from './http2-destinations.ts';
import { abort, connections, Http2Request, Http2Response } from './http2-messages.ts';
import { handConnection } from './internals.ts';
import { portTimeouts } from './port-timeouts.ts';
import { Progress, pauseOf } from './progress.ts';
import type { LogRefusedQuery } from './refused-queries.ts';

/** Serves connections that speak HTTP/2, encrypted or not. */
export interface Http2 {
  take(socket: Duplex): void;
  /**
   * Checks the limits of another configuration: header size for new connections, timeouts for new requests.
   * @param onlyType prefix that content types must have; null accepts all.
   * @returns a function that takes them over and cannot fail.
   * @throws RangeError for limits that HTTP/2 cannot express.
   */
  prepare(config: ServiceConfig, onlyType: string | null): () => void;
  /** Lets requests in flight end and takes no others on the connections there are. */
  drain(): void;
  /** Ends every connection now. */
  cut(): void;
}

/** Requests one connection may have in flight. */
const CONCURRENT_STREAMS = 250;
/** Bytes of bodies a client may send ahead, on one request and on one connection. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
/** Headers of one request, the four of HTTP/2's own included. */
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
  /** Whose session is being opened. */
  let taken: Duplex;
  server.on('session', (session) => {
    connections.set(session, taken);
    sessions.add(session);
    session.once('close', () => {
      sessions.delete(session);
      // The session itself stays until its idle timer fires.
      connections.delete(session);
    });
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    endWhenIdle(session, portTimeouts(limits).idleMs);
    endAfterRequests(session, limits.max_requests_per_connection);
  });
  const accept = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    limitTimes(request, response, limits);
    endWhenStalled(response as Http2Response, limits.send_timeout);
    endWhenReset(response);
    if (!request.stream.endAfterHeaders) dropBodyAfter(response as Http2Response, request as Http2Request);
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
      // Read now, it is still known when the client has left.
      void (socket as Socket).remoteAddress;
      taken = socket;
      handConnection(server, socket);
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
      for (const session of sessions) session.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR);
    },
  };
}

function headerBytes(config: ServiceConfig): number {
  return config.max_header_bytes || DEFAULT_HEADER_BYTES;
}

/** The status to refuse a request with, 0 for a sound one: name and length must be known, the head within its limit. */
function inspect({ headers, rawHeaders, url }: Http2ServerRequest, limitBytes: number): number {
  if (headers.host === undefined || !isLength(headers['content-length'] ?? '0')) return 400;
  if (hasTooManyParameters(url)) return 414;
  let bytes = url.length;
  // As long as it would be in HTTP/1, with a colon, a space and the end of the line.
  for (const text of rawHeaders) bytes += text.length + 2;
  return bytes > limitBytes ? 431 : 0;
}

/** Ends a connection on which nothing has happened for a while, unless a request is waiting for its answer. */
function endWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  if (idleMs === 0) return;
  let open = 0;
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => open--);
  });
  session.setTimeout(timerMs(idleMs), () => {
    if (open === 0) session.close();
  });
}

/** Ends a connection in order after a number of requests. @param limit 0 disables it. */
function endAfterRequests(session: ServerHttp2Session, limit: number): void {
  if (!(limit > 0)) return;
  let requests = 0;
  session.on('stream', () => {
    requests++;
    if (requests === limit) session.close();
  });
}

/**
 * A body that nobody has read to its end when the answer is sent would keep the request open for ever. Trailers are sent
 * after the body: the stream is closed behind them.
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
 * Ends a stream that the client resets with code 0 (NO_ERROR): Node.js waits for its body to be read and its answer to be
 * sent, neither of which can happen any more.
 */
function endWhenReset({ stream }: Http2ServerResponse): void {
  const end = (): void => {
    if (stream.closed) stream.destroy();
  };
  // 'aborted' while the answer is incomplete; 'end' while all of it waits for the client's window.
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

/** `read_timeout` and `write_timeout` of one request: beyond them it is aborted, the connection goes on. */
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
