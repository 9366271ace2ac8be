import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { createServer, type Server, type Socket } from 'node:net';
import { extname } from 'node:path';
import type { Log, ServiceConfig } from '#contract';
import { beginOwned } from '../../contract/internal.ts';
import type { ServerTls } from '../../runtime/tls.ts';
import { createHttp1, type Http1 } from '../http1/server.ts';
import { protocolOf, SwitchingResponse } from '../http1/upgrade.ts';
import { detectProtocol, requestsHttp2, upgrade } from '../http2/h2c.ts';
import type { createHttp2, Http2 } from '../http2/server.ts';
import { afterArrivals } from './after-arrivals.ts';
import { limitConnections } from './connection-limit.ts';
import { decideUpgrades, handConnection, watchTimeouts } from './internals.ts';
import { type HeaderFaults, type ProxyProtocol, proxyProtocol } from './proxy-protocol.ts';
import { type LogRefusedQuery, refusedQueryLog } from './refused-queries.ts';
import { portTimeouts } from './timeouts.ts';
import { createHandshakes, type Handshakes } from './tls.ts';

/** Configuration of the port. */
export interface PortSettings {
  readonly config: ServiceConfig;
  readonly tls: ServerTls | null;
  /** Protocols that connections can be upgraded to, in lowercase. */
  readonly upgrades: ReadonlySet<string>;
  /** Prefix of the request content types that have their own endpoints over HTTP/2; null for none. */
  readonly http2Type: string | null;
}

/**
 * Accepts connections and hands each to the server for its protocol. The port stays open across configurations: a new
 * one applies to later connections.
 */
export interface Protocols {
  /** Server that owns the port. */
  readonly listener: Server;
  /**
   * Prepares the limits, protocols and certificates of another configuration. Nothing changes until the returned
   * function is called, which never throws: connections whose protocol the port no longer offers then close after their
   * pending responses.
   * @throws when the settings cannot be applied.
   */
  prepare(settings: PortSettings): () => void;
  /** Sets whether HTTP/1 connections are closed after their pending response. */
  setClosing(closing: boolean): void;
  /** Completes responses in progress and closes idle connections now. */
  drain(): void;
  /** Closes all connections immediately. */
  cut(): void;
}

/** Request handlers of a port. */
export interface Serving {
  readonly serve: (message: IncomingMessage, response: ServerResponse) => void;
  /** Handles HTTP/2 requests. */
  readonly serveHttp2: (message: IncomingMessage, response: ServerResponse) => void;
}

/**
 * Loads HTTP/2 support only for ports that use it: with the Node.js modules it needs, loading takes more than 10 ms.
 */
function http2Module(): { readonly createHttp2: typeof createHttp2 } {
  return createRequire(import.meta.url)(`../http2/server${extname(import.meta.url)}`);
}

export function createProtocols(settings: PortSettings, serving: Serving, log: Log, faults: HeaderFaults): Protocols {
  return new Dispatch(settings, serving, log, faults);
}

class Dispatch implements Protocols {
  readonly listener: Server;
  readonly #serving: Serving;
  readonly #log: Log;
  readonly #faults: HeaderFaults;
  #config: ServiceConfig;
  #proxyProtocol: ProxyProtocol | null;
  #upgrades: ReadonlySet<string>;
  #http2Type: string | null;
  #handshakes: Handshakes | null;
  #http1: Http1;
  /** HTTP/2 server; null until the port first uses HTTP/2. */
  #http2: Http2 | null = null;
  /** Previous HTTP/1 servers whose connections are still draining. */
  readonly #retired = new Set<Http1>();
  /** Connections whose PROXY protocol header is incomplete, and plain-text connections whose protocol is not yet known. */
  readonly #unknown = new Set<Socket>();
  readonly #logRefusedQuery: LogRefusedQuery;
  readonly #limitConnections: (config: ServiceConfig) => void;

  constructor(settings: PortSettings, serving: Serving, log: Log, faults: HeaderFaults) {
    const { config, tls, upgrades, http2Type } = settings;
    this.#config = config;
    this.#upgrades = upgrades;
    this.#http2Type = http2Type;
    this.#serving = serving;
    this.#log = log;
    this.#faults = faults;
    this.#proxyProtocol = proxyProtocol(config, faults);
    this.listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      beginOwned('client connection', socket, () => this.#accept(socket)),
    );
    this.#logRefusedQuery = refusedQueryLog(this.listener, log);
    this.#handshakes = tls && this.#shakeHands(tls, config);
    this.#http2 = this.#openHttp2(settings);
    this.#http1 = this.#createHttp1(config);
    watchTimeouts(this.#http1.server);
    this.#limitConnections = limitConnections(this.listener, log);
    this.#limitConnections(config);
  }

  #accept(socket: Socket): void {
    if (!this.#proxyProtocol?.expects(socket)) return this.#begin(socket);
    const known = this.#wait(socket);
    this.#proxyProtocol.read(socket, () => {
      known();
      this.#begin(socket);
    });
  }

  /** Determines the protocol of a connection whose client is known. */
  #begin(socket: Socket): void {
    if (this.#handshakes) {
      this.#handshakes.take(socket);
    } else if (this.#speaksHttp2) {
      const known = this.#wait(socket);
      detectProtocol(socket, portTimeouts(this.#config).headMs, (isHttp2) => {
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

  #shakeHands(tls: ServerTls, config: ServiceConfig): Handshakes {
    return createHandshakes(
      tls,
      portTimeouts(config).headMs,
      (socket) => this.#hand(socket, socket.alpnProtocol === 'h2'),
      this.#log,
    );
  }

  #createHttp1(config: ServiceConfig): Http1 {
    const http1 = createHttp1(config, this.#serving.serve, this.#logRefusedQuery);
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
      upgrade(message, socket, head, portTimeouts(this.#config).headMs, () => {
        known();
        this.#http2!.take(socket);
      });
    });
    return http1;
  }

  /** Whether plain-text connections may use HTTP/2. */
  get #speaksHttp2(): boolean {
    return speaksHttp2(this.#config, this.#http2Type);
  }

  #switchesToHttp2(message: IncomingMessage): boolean {
    return this.#config.use_h2c && !this.#handshakes && requestsHttp2(message);
  }

  /** Tracks a connection until its protocol is known. */
  #wait(socket: Socket): () => void {
    const known = () => {
      this.#unknown.delete(socket);
      socket.off('close', known);
    };
    this.#unknown.add(socket);
    socket.once('close', known);
    return known;
  }

  prepare(settings: PortSettings): () => void {
    const { config, tls, upgrades, http2Type } = settings;
    const old = this.#handshakes;
    // Handshakes in progress finish with the settings with which they began.
    const handshakes = tls?.fingerprint === old?.fingerprint ? old : tls && this.#shakeHands(tls, config);
    const http1 = (tls === null) === (old === null) ? null : this.#createHttp1(config);
    const opened = this.#http2 ? null : this.#openHttp2(settings);
    const adjustHttp2 = this.#http2?.prepare(config, onlyType(settings));
    const nextProxyProtocol = proxyProtocol(config, this.#faults);
    return () => {
      const spokeHttp2 = this.#speaksHttp2;
      this.#config = config;
      this.#proxyProtocol = nextProxyProtocol;
      this.#upgrades = upgrades;
      this.#http2Type = http2Type;
      this.#http1.adjust(config);
      this.#limitConnections(config);
      adjustHttp2?.();
      if (http1) {
        this.drain();
        this.#retire(http1);
      } else if (spokeHttp2 && !this.#speaksHttp2 && tls === null) {
        this.#http2?.drain();
      }
      this.#handshakes = handshakes;
      this.#http2 ??= opened;
    };
  }

  /** @returns null when the port does not use HTTP/2. */
  #openHttp2(settings: PortSettings): Http2 | null {
    const { config, tls, http2Type } = settings;
    if (!tls && !speaksHttp2(config, http2Type)) return null;
    return http2Module().createHttp2(config, onlyType(settings), this.#serving.serveHttp2, this.#logRefusedQuery);
  }

  #retire(next: Http1): void {
    for (const old of this.#retired) if (old.size === 0) this.#retired.delete(old);
    this.#retired.add(this.#http1);
    this.#http1 = next;
    watchTimeouts(next.server);
  }

  setClosing(closing: boolean): void {
    this.#http1.setClosing(closing);
  }

  drain(): void {
    this.#handshakes?.abort();
    afterArrivals(() => {
      for (const socket of this.#unknown) socket.destroy();
    });
    // This server does not own the port: closing it only stops its timeout checks.
    this.#http1.server.close();
    this.#http1.drain();
    this.#http2?.drain();
  }

  cut(): void {
    for (const http1 of [this.#http1, ...this.#retired]) http1.cut();
    this.#http2?.cut();
  }
}

function speaksHttp2(config: ServiceConfig, http2Type: string | null): boolean {
  return config.use_h2c || http2Type !== null;
}

/** Returns the only content type that clear-text HTTP/2 connections accept; null if they accept all. */
function onlyType({ config, tls, http2Type }: PortSettings): string | null {
  return config.use_h2c || tls ? null : http2Type;
}
