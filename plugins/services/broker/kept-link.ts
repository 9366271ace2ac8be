import { BackendError, type Call, type Log } from '#contract';
import { type BackoffStrategy, backOff } from '../backoff.ts';
import { during } from './during.ts';

/** An open connection. */
export interface Link {
  /** Gives everything back; whatever waits fails. */
  close(): void | Promise<void>;
}

/** How a connection is made. */
export interface LinkOptions<L extends Link> {
  /** What logs and errors call it; never with a password. */
  readonly name: string;
  /**
   * Connects, in a time of its own.
   * @param onLost to be called when the open connection is lost; not by `close`. @param signal gives the attempt up.
   * @throws the reason why there is no connection.
   */
  readonly connect: (onLost: (error: Error) => void, signal: AbortSignal) => Promise<L>;
  /** Pauses between attempts. Default: one second. */
  readonly backoff?: BackoffStrategy;
  /** What has gone wrong, in one line for people. Default: messages of the error and its causes. */
  readonly reasonOf?: (error: unknown) => string;
}

/** A connection that was open for less, in milliseconds, is not made again at once. */
const SETTLED_MS = 5000;

/**
 * A connection to a broker, made again whenever it is lost. Nobody waits for it but for the first attempt: without it whoever
 * asks fails at once.
 */
export class KeptLink<L extends Link> {
  readonly name: string;
  readonly #options: LinkOptions<L>;
  readonly #closing = new AbortController();
  #log: Log | null = null;
  #link: L | null = null;
  /** Attempts to connect that are going on; settled when they have succeeded or are given up. */
  #connecting: Promise<void> | null = null;
  /** The first attempt. */
  #first: Promise<void> | null = null;
  #trouble = 'not connected yet';

  constructor(options: LinkOptions<L>) {
    this.name = options.name;
    this.#options = options;
  }

  /** Connects, unless that is done. Never waits. @param log of the configuration that serves. */
  open(log: Log): void {
    this.#log = log;
    if (this.#connecting || this.#link || this.#closing.signal.aborted) return;
    let over = () => {};
    const first = new Promise<void>((resolve) => {
      over = resolve;
    });
    this.#first = first;
    this.#connecting = this.#connect(0, () => {
      this.#first = null;
      over();
    });
  }

  /** The open connection; the first attempt is waited for. @throws BackendError BROKER_NOT_CONNECTED */
  current(call: Call): L | Promise<L> {
    if (this.#link) return this.#link;
    if (this.#first) return during(call, this.#first).then(() => this.#link ?? this.#missing());
    return Promise.reject(this.#error());
  }

  /** The open connection, if there is one. */
  get opened(): L | null {
    return this.#link;
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#trouble = 'closed';
    const link = this.#link;
    this.#link = null;
    await Promise.all([link?.close(), this.#connecting]);
  }

  #reasonOf(error: unknown): string {
    return (this.#options.reasonOf ?? reasonOf)(error);
  }

  #missing(): never {
    throw this.#error();
  }

  #error(): BackendError {
    return new BackendError('BROKER_NOT_CONNECTED', `${this.name}: ${this.#trouble}`);
  }

  /** @param attempts made before. @param onFirst called when the first attempt is over. */
  async #connect(attempts: number, onFirst: () => void): Promise<void> {
    const { signal } = this.#closing;
    const { backoff = 'fallback' } = this.#options;
    let isReported = false;
    for (let attempt = attempts; !signal.aborted; attempt++) {
      if (attempt > 0) await backOff(backoff, attempt, signal);
      if (signal.aborted) break;
      try {
        await this.#attempt();
        if (isReported || attempts > 0) this.#log?.info(`${this.name} is connected`);
        break;
      } catch (error) {
        this.#trouble = `not connected: ${this.#reasonOf(error)}`;
        if (!isReported && !signal.aborted) this.#log?.error(`${this.name} ${this.#trouble}`);
        isReported = true;
        onFirst();
      }
    }
    this.#connecting = null;
    onFirst();
  }

  async #attempt(): Promise<void> {
    let link: L | null = null;
    let loss: Error | null = null;
    const startedAt = performance.now();
    const opened = await this.#options.connect((error) => {
      loss ??= error;
      if (link) this.#lost(link, error, performance.now() - startedAt);
    }, this.#closing.signal);
    if (this.#closing.signal.aborted || loss) {
      await opened.close();
      throw loss ?? new Error('closed');
    }
    link = opened;
    this.#link = opened;
  }

  #lost(link: L, error: Error, afterMs: number): void {
    if (this.#link !== link) return;
    this.#link = null;
    this.#trouble = `connection lost: ${this.#reasonOf(error)}`;
    this.#log?.error(`${this.name} ${this.#trouble}`);
    const attempts = afterMs >= SETTLED_MS ? 0 : 1;
    void close(link);
    this.#connecting = this.#connect(attempts, () => {});
  }
}

/** Of a lost link nothing is expected any more. */
async function close(link: Link): Promise<void> {
  try {
    await link.close();
  } catch {}
}

/** The message of an error and of what has caused it, in one line. */
export function reasonOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 4; at = at.cause) {
    const { message, code } = at as Error & { readonly code?: unknown };
    const text = message || String(code ?? at.name);
    if (!texts.some((before) => before.includes(text))) texts.push(text);
  }
  return texts.join(': ') || String(error);
}
