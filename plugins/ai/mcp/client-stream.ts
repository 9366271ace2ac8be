import { randomUUID } from 'node:crypto';
import { ByteStream } from '#contract';
import type { Listener } from './connections.ts';

/** Interval of comments sent to a listening client if pings are disabled, in milliseconds. */
const HEARTBEAT_MS = 30_000;
/**
 * Maximum size of events buffered for a client that does not read, in bytes. A client that exceeds it is disconnected.
 */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Stream of server-sent events to a listening client. Sends pings or comments at intervals, and closes the stream if
 * the client does not read the stream, does not respond, or its session has ended.
 */
export class ClientStream implements Listener {
  readonly id = randomUUID();
  readonly body: ByteStream;
  /** Callback for the end of the stream, which is called once. */
  over: () => void = () => {};
  readonly #pings: boolean;
  readonly #isThere: (ping: string) => Promise<string | null>;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;
  /** Bytes buffered since the stream became full. */
  #waitingBytes = 0;
  #isAsking = false;
  #isOver = false;

  /**
   * @param pingMs ping interval; 0 to send comments instead of pings.
   * @param isThere returns null if the session has ended; called with the ID of the ping that is about to be sent, or
   * an empty string if no ping is sent.
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

  /** @param event serialized event, including the trailing empty line. */
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

  /** Disconnects the client. A client that does not read would not see a regular end, so its stream fails instead. */
  #cut(): void {
    this.#stop();
    if (this.#isFull) this.body.fail(new Error('the client does not read the stream'));
    else this.body.end();
  }
}

/** Formats a server-sent event. @param message JSON text. */
export function messageEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}
