import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CallError, type Log, type Reply, type Upgrade } from '#contract';
import { currentFaultOwner, nameRequest } from '../../contract/internal.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import type { RenderedReply, Rendering } from '../../pipeline/response/render.ts';
import { endPolitely } from '../response/refusal.ts';

/**
 * Whether a request without a body asks to switch to another protocol. Without a body, bytes sent after the request
 * cannot be misread.
 */
export function requestsSwitch({ headers, httpVersion }: IncomingMessage): boolean {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  if (httpVersion !== '1.1' || headers.upgrade === undefined) return false;
  return headers.connection !== undefined && namesIn(headers.connection).includes('upgrade');
}

/** Returns the first requested protocol that is accepted, in lowercase; null for none. */
export function protocolOf(message: IncomingMessage, accepted: ReadonlySet<string>): string | null {
  if (accepted.size === 0 || message.method === 'HEAD' || !requestsSwitch(message)) return null;
  return namesIn(message.headers.upgrade!).find((protocol) => accepted.has(protocol)) ?? null;
}

/** Splits a header into its names, in lowercase. */
export function namesIn(header: string): string[] {
  // Commas are not matched with a pattern such as `\s*,`, which takes quadratic time for a header full of spaces.
  const names = header.toLowerCase().split(',');
  return names.map((name) => name.trim());
}

/** Headers that control the connection, or describe a body. */
const own = /^(?:connection|upgrade|transfer-encoding|x-(?:gateway|krakend)|content-.*)$/;

/**
 * Renders the response that switches a connection to another protocol.
 * @param protocol requested by the client; null when none is.
 * @throws CallError UPGRADE_REFUSED when the endpoint does not declare the protocol, or the client did not request one.
 */
export function renderUpgrade(
  { headers }: Reply,
  upgrade: Upgrade,
  protocol: string | null,
  route: Route | null,
  rendering: Rendering,
): RenderedReply {
  if (protocol === null || !route?.upgrades.has(protocol)) {
    throw new CallError('UPGRADE_REFUSED', `the backend switched protocols, but the client did not request an upgrade`);
  }
  headers.filter((name) => !own.test(name));
  headers.list.push(rendering.names.header, rendering.names.version, 'Connection', 'Upgrade', 'Upgrade', protocol);
  return { status: 101, headers: headers.list, body: null, raw: true, upgrade };
}

/** Maximum time for a connection or a stream to end gracefully, in milliseconds. */
export const END_MS = 5000;

/**
 * The response to a request that asks to switch protocols. Node's HTTP server has detached the connection: it is handed
 * to the other protocol, or ends with an ordinary response.
 */
export class SwitchingResponse extends ServerResponse {
  /** The requested protocol, in lowercase. */
  readonly protocol: string;
  readonly #connection: Socket;
  readonly #head: Buffer;
  /** Owner of the connection's events. */
  readonly #owner = currentFaultOwner();

  /** @param head bytes received after the request. */
  constructor(message: IncomingMessage, connection: Socket, head: Buffer, protocol: string) {
    super(message);
    this.protocol = protocol;
    this.#connection = connection;
    this.#head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(connection);
    connection.on('drain', this.#onDrain);
    this.once('finish', () => {
      this.#release();
      endPolitely(connection);
      process.nextTick(() => this.emit('close'));
    });
  }

  readonly #onDrain = (): void => void this.emit('drain');

  #release(): void {
    this.#connection.off('drain', this.#onDrain);
    this.detachSocket(this.#connection);
  }

  /**
   * Sends 101 and hands the connection over. The response lasts until the connection has closed.
   * @param name of the request, for errors of later events.
   * @returns a function that ends the connection gracefully.
   */
  switchTo(upgrade: Upgrade, headers: string[], name: string, log: Log): () => void {
    const connection = this.#connection;
    if (this.#owner) nameRequest(this.#owner, name);
    this.writeHead(101, headers);
    this.flushHeaders();
    this.#release();
    this.emit('switched');
    connection.setTimeout(0);
    connection.allowHalfOpen = false;
    let cut: NodeJS.Timeout | undefined;
    let isClean = false;
    Object.defineProperty(this, 'writableFinished', { get: () => isClean });
    connection.once('close', (hadError) => {
      clearTimeout(cut);
      isClean = !hadError;
      this.emit('close');
    });
    const guarded = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        log.error(() => `a component failed at a connection: ${error instanceof Error ? error.stack : error}`);
        connection.destroy();
      }
    };
    guarded(() => upgrade.take(connection, this.#head));
    // If the client has closed its side while waiting, `end` was already emitted and is not emitted again.
    if (connection.readableEnded) connection.destroy();
    return () => {
      if (cut || connection.destroyed) return;
      cut = setTimeout(() => connection.destroy(), END_MS);
      guarded(() => (upgrade.end ? upgrade.end() : connection.end()));
    };
  }
}
