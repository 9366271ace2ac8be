import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { createServer, type Server, type Socket } from 'node:net';
import { extname } from 'node:path';
import type { Log, ServiceConfig } from '#contract';
import type { ServerTls } from '../runtime/tls.ts';
import { asksForHttp2, detectProtocol, upgrade } from './h2c.ts';
import { createHttp1, type Http1 } from './http1.ts';
import type { createHttp2, Http2 } from './http2.ts';
import { decideUpgrades, handConnection, watchTimeouts } from './internals.ts';
import { createHandshakes, type Handshakes } from './tls.ts';
import { protocolOf, SwitchingResponse } from './upgrade.ts';

/** What a configuration says about the port. */
export interface PortSettings {
  readonly config: ServiceConfig;
  readonly tls: ServerTls | null;
  /** Protocols that connections can go on in, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  /** What the content types of requests begin with that have endpoints of their own over HTTP/2; null for none. */
  readonly http2Type: string | null;
}

/**
 * Accepts connections and hands each to the server for what it speaks. The port stays open whatever changes: another
 * configuration decides about the connections that come after it.
 */
export interface Protocols {
  /** Owns the port. */
  readonly listener: Server;
  /** Connections that speak what the port no longer does end with the answers they are waiting for. */
  adjust(settings: PortSettings): void;
  /** Whether HTTP/1 connections are closed after the answer they are waiting for. */
  setClosing(closing: boolean): void;
  /** What is being answered is answered, connections without work end now. */
  drain(): void;
  /** Ends every connection. */
  cut(): void;
}

/** What answers the requests of a port. */
export interface Serving {
  readonly serve: (message: IncomingMessage, response: ServerResponse) => void;
  /** Those over HTTP/2. */
  readonly serveHttp2: (message: IncomingMessage, response: ServerResponse) => void;
}

/** Loaded for ports that speak HTTP/2: with what it needs of Node.js it takes more than ten milliseconds. */
function http2Module(): { readonly createHttp2: typeof createHttp2 } {
  return createRequire(import.meta.url)(`./http2${extname(import.meta.url)}`);
}

export function createProtocols(settings: PortSettings, serving: Serving, log: Log): Protocols {
  return new Dispatch(settings, serving, log);
}

class Dispatch implements Protocols {
  readonly listener: Server;
  readonly #serving: Serving;
  readonly #log: Log;
  #config: ServiceConfig;
  #upgrades: ReadonlySet<string>;
  #http2Type: string | null;
  #handshakes: Handshakes | null;
  #http1: Http1;
  /** Null until the port speaks HTTP/2 for the first time. */
  #http2: Http2 | null = null;
  /** HTTP/1 servers whose connections are to end. */
  readonly #retired = new Set<Http1>();
  /** Plain connections whose protocol is not known yet. */
  readonly #unknown = new Set<Socket>();

  constructor(settings: PortSettings, serving: Serving, log: Log) {
    const { config, tls, upgrades, http2Type } = settings;
    this.#config = config;
    this.#upgrades = upgrades;
    this.#http2Type = http2Type;
    this.#serving = serving;
    this.#log = log;
    this.#handshakes = tls && this.#shakeHands(tls);
    this.#openHttp2(onlyType(settings));
    this.#http1 = this.#createHttp1();
    this.listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      // Node takes its own listener off what it hands out, and a reset can come at any moment.
      socket.on('error', ignored);
      this.#accept(socket);
    });
  }

  #accept(socket: Socket): void {
    if (this.#handshakes) {
      this.#handshakes.take(socket);
    } else if (this.#speaksHttp2) {
      const known = this.#wait(socket);
      detectProtocol(socket, this.#headMs, (isHttp2) => {
        known();
        this.#hand(socket, isHttp2);
      });
    } else {
      this.#hand(socket, false);
    }
  }

  #hand(socket: Socket, isHttp2: boolean): void {
    if (isHttp2) this.#http2!.take(socket);
    else handConnection(this.#http1.server, socket);
  }

  #shakeHands(tls: ServerTls): Handshakes {
    return createHandshakes(tls, this.#headMs, (socket) => this.#hand(socket, socket.alpnProtocol === 'h2'), this.#log);
  }

  #createHttp1(): Http1 {
    const http1 = createHttp1(this.#config, this.#serving.serve);
    const { server } = http1;
    decideUpgrades(
      server,
      (message) =>
        (this.#switchesToHttp2(message) || protocolOf(message, this.#upgrades) !== null) &&
        http1.isFree(message.socket),
    );
    server.on('upgrade', (message, socket: Socket, head) => {
      if (!this.#switchesToHttp2(message)) {
        const response = new SwitchingResponse(message, socket, head, protocolOf(message, this.#upgrades)!);
        http1.accept(message, response);
        return;
      }
      http1.release(socket);
      const known = this.#wait(socket);
      upgrade(message, socket, head, this.#headMs, () => {
        known();
        this.#http2!.take(socket);
      });
    });
    watchTimeouts(server);
    return http1;
  }

  /** Plain connections may begin with HTTP/2. */
  get #speaksHttp2(): boolean {
    return this.#config.use_h2c || this.#http2Type !== null;
  }

  #switchesToHttp2(message: IncomingMessage): boolean {
    return this.#config.use_h2c && !this.#handshakes && asksForHttp2(message);
  }

  /** Longest wait for the first bytes that say something, in milliseconds; 0 for no limit. */
  get #headMs(): number {
    return this.#config.read_header_timeout || this.#config.read_timeout;
  }

  /** Remembers a connection until its protocol is known. */
  #wait(socket: Socket): () => void {
    const known = () => {
      this.#unknown.delete(socket);
      socket.off('close', known);
    };
    this.#unknown.add(socket);
    socket.once('close', known);
    return known;
  }

  adjust(settings: PortSettings): void {
    const { config, tls, upgrades, http2Type } = settings;
    const spokeHttp2 = this.#speaksHttp2;
    const old = this.#handshakes;
    this.#config = config;
    this.#upgrades = upgrades;
    this.#http2Type = http2Type;
    this.#http1.adjust(config);
    this.#http2?.adjust(config, onlyType(settings));
    if ((tls === null) !== (old === null)) {
      this.drain();
      this.#retire();
    } else if (spokeHttp2 && !this.#speaksHttp2 && tls === null) {
      this.#http2?.drain();
    }
    // A handshake that has begun ends as it began.
    if (tls?.fingerprint !== old?.fingerprint) this.#handshakes = tls && this.#shakeHands(tls);
    this.#openHttp2(onlyType(settings));
  }

  #openHttp2(type: string | null): void {
    if (!this.#handshakes && !this.#speaksHttp2) return;
    this.#http2 ??= http2Module().createHttp2(this.#config, type, this.#serving.serveHttp2);
  }

  #retire(): void {
    for (const old of this.#retired) if (old.size === 0) this.#retired.delete(old);
    this.#retired.add(this.#http1);
    this.#http1 = this.#createHttp1();
  }

  setClosing(closing: boolean): void {
    this.#http1.setClosing(closing);
  }

  drain(): void {
    this.#handshakes?.abort();
    for (const socket of this.#unknown) socket.destroy();
    // The port is not its own: closing only stops the watch over timeouts.
    this.#http1.server.close();
    this.#http1.drain();
    this.#http2?.drain();
  }

  cut(): void {
    for (const http1 of [this.#http1, ...this.#retired]) http1.cut();
    this.#http2?.cut();
  }
}

/** The only content type that plain connections of HTTP/2 are for; null where they are for all. */
function onlyType({ config, tls, http2Type }: PortSettings): string | null {
  return config.use_h2c || tls ? null : http2Type;
}

/** The connection closes; there is nobody to tell. */
function ignored(): void {}
