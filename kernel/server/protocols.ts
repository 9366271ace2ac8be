import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Log, ServiceConfig } from '#contract';
import type { ServerTls } from '../runtime/tls.ts';
import { asksForHttp2, tellProtocol, upgrade } from './h2c.ts';
import { createHttp2 } from './http2.ts';
import { createHandshakes, type Handshakes } from './tls.ts';

/** What a configuration says about the port. */
export interface PortSettings {
  readonly config: ServiceConfig;
  readonly tls: ServerTls | null;
}

/**
 * Accepts connections and hands each to the server for what it speaks. The port stays open whatever changes: another
 * configuration only decides about connections that come after it.
 */
export interface Protocols {
  /** Owns the port. */
  readonly entrance: Server;
  /** @returns true when connections made until now speak what the port no longer does and are to end. */
  adjust(settings: PortSettings): boolean;
  /** Connections on which no request has begun end now, those of HTTP/2 with their last request. */
  drain(): void;
  /** Ends what is not yet, or not, with the HTTP/1 server. */
  cut(): void;
}

/**
 * @param http serves HTTP/1; it does not listen itself.
 * @param serve answers requests over HTTP/2.
 * @param isFree tells whether nothing else is under way on an HTTP/1 connection, so that it may change its protocol.
 */
export function createProtocols(
  settings: PortSettings,
  http: HttpServer,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
  isFree: (socket: Socket) => boolean,
  log: Log,
): Protocols {
  const http2 = createHttp2(settings.config, serve);
  /** Plain connections whose protocol is not known yet. */
  const unknown = new Set<Socket>();
  let { config } = settings;
  let handshakes = settings.tls && shakeHands(settings.tls);

  function shakeHands(tls: ServerTls): Handshakes {
    return createHandshakes(
      tls,
      headMs(),
      (socket) => {
        if (socket.alpnProtocol === 'h2') http2.take(socket);
        else http.emit('connection', socket);
      },
      log,
    );
  }

  function headMs(): number {
    return config.read_header_timeout || config.read_timeout;
  }

  function await2(socket: Socket): () => void {
    unknown.add(socket);
    const known = () => {
      unknown.delete(socket);
      socket.off('close', known);
    };
    socket.once('close', known);
    return known;
  }

  const entrance = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (handshakes) return handshakes.take(socket);
    if (!config.use_h2c) return void http.emit('connection', socket);
    const known = await2(socket);
    tellProtocol(socket, headMs(), (isHttp2) => {
      known();
      if (isHttp2) http2.take(socket);
      else http.emit('connection', socket);
    });
  });
  // What watches over the timeouts of connections starts with the listening.
  entrance.once('listening', () => http.emit('listening'));
  http.shouldUpgradeCallback = (message) =>
    config.use_h2c && !handshakes && asksForHttp2(message) && isFree(message.socket);
  http.on('upgrade', (message, socket: Socket, head) => {
    const known = await2(socket);
    upgrade(message, socket, head, headMs(), () => {
      known();
      http2.take(socket);
    });
  });

  return {
    entrance,
    adjust(next) {
      const was = { encrypted: handshakes !== null, h2c: config.use_h2c };
      config = next.config;
      http2.adjust(config);
      if (next.tls?.fingerprint !== handshakes?.fingerprint) handshakes = next.tls && shakeHands(next.tls);
      const encrypted = handshakes !== null;
      return was.encrypted !== encrypted || (was.h2c && !config.use_h2c && !encrypted);
    },
    drain() {
      handshakes?.abort();
      for (const socket of unknown) socket.destroy();
      http2.drain();
    },
    cut: () => http2.cut(),
  };
}
