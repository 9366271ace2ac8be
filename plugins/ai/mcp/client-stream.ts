import { randomUUID } from 'node:crypto';
import { ByteStream } from '#contract';
import type { Listener } from './connections.ts';

/** How often a client that listens is sent something when it is not asked whether it is there, in milliseconds. */
const HEARTBEAT_MS = 30_000;
/** Events that wait for a client that does not read, in bytes: one with more of them is cut. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Server-sent events to a client that listens. It is asked whether it is there, or sent a comment; one that does not read,
 * does not respond, or whose session is over, is not kept.
 */
export class ClientStream implements Listener {
  readonly id = randomUUID();
  readonly body: ByteStream;
  /** Called once. */
  over: () => void = () => {};
  readonly #pings: boolean;
  readonly #isThere: (ping: string) => Promise<string | null>;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;
  /** Since it is full. */
  #waitingBytes = 0;
  #isAsking = false;
  #isOver = false;

  /**
   * @param pingMs 0 for comments in the place of pings.
   * @param isThere null for a session that is over; with the name of a ping that is about to be sent, empty for none.
   */
  constructor(pingMs: number, isThere: (ping: string) => Promise<string | null>) {
    this.#pings = pingMs > 0;
    this.#isThere = isThere;
    this.#timer = setInterval(() => void this.#tick(), pingMs || HEARTBEAT_MS);
    this.body = new ByteStream({
      resume: () => {
        this.#isFull = false;
        this.#waitingBytes = 0;
      },
      cancel: () => this.#stop(),
    });
  }

  /** @param event as it is written, with the empty line behind it. */
  send(event: string): void {
    if (this.#isOver) return;
    const bytes = Buffer.from(event);
    if (this.#isFull) this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#cut();
    else this.#isFull = !this.body.write(bytes);
  }

  end(): void {
    this.#stop();
    this.body.end();
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.over();
  }

  async #tick(): Promise<void> {
    const ping = this.#pings ? `ping-${randomUUID()}` : '';
    if (this.#isFull || this.#isAsking) return this.#cut();
    this.#isAsking = true;
    const session = await this.#isThere(ping).catch(() => null);
    this.#isAsking = false;
    if (session === null) return this.end();
    this.send(ping === '' ? ':\n\n' : messageEvent(JSON.stringify({ jsonrpc: '2.0', id: ping, method: 'ping' })));
  }

  /** Whoever reads nothing would not see an end either. */
  #cut(): void {
    this.#stop();
    if (this.#isFull) this.body.fail(new Error('the client does not read'));
    else this.body.end();
  }
}

/** @param message as JSON. */
export function messageEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}
