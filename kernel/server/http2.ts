import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { ServiceConfig } from '#contract';

/** Serves connections that speak HTTP/2, encrypted or not. */
export interface Http2 {
  take(socket: Duplex): void;
  /** Takes over the limits of another configuration: header size for new connections, timeouts for new requests. */
  adjust(config: ServiceConfig): void;
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
/** Headers of one request; the limit on their size is the one that holds. */
const HEADER_PAIRS = 32 * 1024;
const DEFAULT_HEADER_BYTES = 1024 * 1024;
const SESSION_MEMORY_MB = 16;

export function createHttp2(
  config: ServiceConfig,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
): Http2 {
  let limits = config;
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({
    settings: {
      maxConcurrentStreams: CONCURRENT_STREAMS,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: headerBytes(config),
    },
    maxHeaderListPairs: HEADER_PAIRS,
    maxSessionMemory: SESSION_MEMORY_MB,
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    endWhenIdle(session, limits.idle_timeout || limits.read_timeout);
  });
  server.on('request', (request, response) => {
    limitTimes(request, response, limits);
    // A body that nobody reads to its end would keep the request open for ever.
    response.stream.once('finish', () => {
      if (!request.readableEnded) response.stream.close(constants.NGHTTP2_NO_ERROR);
    });
    serve(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
  return {
    take: (socket) => void server.emit('connection', socket),
    adjust(next) {
      limits = next;
      server.updateSettings({ maxHeaderListSize: headerBytes(next) });
    },
    drain() {
      for (const session of sessions) session.close();
    },
    cut() {
      for (const session of sessions) session.destroy();
    },
  };
}

function headerBytes(config: ServiceConfig): number {
  return config.max_header_bytes || DEFAULT_HEADER_BYTES;
}

/** Ends a connection on which nothing has happened for a while, unless a request is waiting for its answer. */
function endWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  if (idleMs === 0) return;
  let open = 0;
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => open--);
  });
  session.setTimeout(idleMs, () => {
    if (open === 0) session.close();
  });
}

/** `read_timeout` and `write_timeout` of one request: beyond them it is given up, the connection goes on. */
function limitTimes(request: Http2ServerRequest, response: Http2ServerResponse, limits: ServiceConfig): void {
  const { read_timeout: readMs, write_timeout: writeMs } = limits;
  const { stream } = response;
  const limit = (milliseconds: number) =>
    milliseconds > 0 ? setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), milliseconds) : undefined;
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
