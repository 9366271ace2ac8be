import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CallError, type Log, type Reply, type Upgrade } from '#contract';
import type { RenderedReply, Rendering } from '../pipeline/render.ts';
import type { Route } from '../pipeline/route.ts';
import { endPolitely } from './refusal.ts';

/** True for a request without a body that asks to go on in another protocol, which nothing sent behind it can disturb. */
export function asksToSwitch({ headers, httpVersion }: IncomingMessage): boolean {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  const named = headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [];
  return httpVersion === '1.1' && headers.upgrade !== undefined && named.includes('upgrade');
}

/** The first protocol that a client asks for and that is among these, in lower case; null for none. */
export function protocolOf(message: IncomingMessage, accepted: ReadonlySet<string>): string | null {
  if (accepted.size === 0 || message.method === 'HEAD' || !asksToSwitch(message)) return null;
  const asked = message.headers.upgrade!.toLowerCase().split(/\s*,\s*/);
  return asked.find((protocol) => accepted.has(protocol)) ?? null;
}

/** Headers that say what the connection does next, or describe a body. */
const own = /^(?:connection|upgrade|transfer-encoding|x-(?:gateway|krakend)|content-.*)$/;

/**
 * The answer that switches a connection to another protocol.
 * @param protocol that the client asks for; null when it asks for none.
 * @throws CallError UPGRADE_REFUSED when the endpoint does not declare that it goes on in it, or nobody asks.
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

/** Longest time that a connection or a stream may take to end in order, in milliseconds. */
export const END_MS = 5000;

/**
 * The response to a request whose client wants to go on in another protocol. Node's HTTP has let go of the connection: it is
 * handed to the other protocol, or ends with an ordinary answer.
 */
export class SwitchingResponse extends ServerResponse {
  /** What the client asks for, in lower case. */
  readonly protocol: string;
  readonly #connection: Socket;
  readonly #head: Buffer;

  /** @param head bytes that came behind the request. */
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
   * Answers 101 and hands the connection over. The response goes on until the connection has closed.
   * @returns ends the connection in order.
   */
  switchTo(upgrade: Upgrade, headers: string[], log: Log): () => void {
    const connection = this.#connection;
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
    // The client ended its side while it waited: that event has passed, and no other one follows it.
    if (connection.readableEnded) connection.destroy();
    return () => {
      if (cut || connection.destroyed) return;
      cut = setTimeout(() => connection.destroy(), END_MS);
      guarded(() => (upgrade.end ? upgrade.end() : connection.end()));
    };
  }
}
