import { BackendError, type Call, connectionOwner, type Log, runOwned } from '#contract';
import { during } from '../../shared/calls/during.ts';
import { type BackoffStrategy, backOff } from '../../shared/retries/backoff.ts';

/** An open connection, or a channel on one. */
export interface Link {
  /** Releases everything; pending operations fail. */
  close(): void | Promise<void>;
}

/** Reconnection policy: number of attempts and pauses between them. */
export interface Reconnection {
  /** Maximum number of consecutive attempts, after which the link stays closed until it is requested again; 0 or less for no limit. */
  readonly maxRetries: number;
  /** Delays before reconnection attempts. The very first attempt is not delayed. */
  readonly strategy: BackoffStrategy;
}

/** Options for opening a link. */
export interface LinkOptions<L extends Link> {
  /** Name in logs and errors; never contains a password. */
  readonly name: string;
  /**
   * Connects, with its own timeout.
   * @param onLost must be called when the open link is lost; not by `close`. @param signal cancels the attempt.
   * @throws the reason of the failure.
   */
  readonly connect: (onLost: (error: Error) => void, signal: AbortSignal) => Promise<L>;
  /** Formats a failure as one readable line. Default: messages of the error and its causes. */
  readonly reasonOf?: (error: unknown) => string;
  /** Attempts in the first series, regardless of the limit for later ones. Default: no limit. */
  readonly firstAttempts?: number;
  /** Error for callers without an open link. Default: BROKER_NOT_CONNECTED with the name and the reason. */
  readonly failure?: () => Error;
}

/** Minimum time that a link must be open to count as working, in milliseconds. After shorter connections the pauses keep growing. */
const SETTLED_MS = 5000;

/** Reasons reported per outage; further ones are logged at debug level only. */
const MAX_REASONS = 10;

/**
 * A link to a broker that is reopened whenever it is lost. Callers wait only for the very first attempt: after that, a
 * call without an open link fails immediately, and starts another series of attempts if the last one has ended.
 */
export class KeptLink<L extends Link> {
  readonly name: string;
  readonly #options: LinkOptions<L>;
  readonly #closing = new AbortController();
  #log: Log | null = null;
  /** Reconnection policy; null to reconnect immediately after a link that worked, then every second. */
  #reconnection: Reconnection | null = null;
  #link: L | null = null;
  /** Settles when a link is open or no further attempt is made. */
  #series: Promise<void> | null = null;
  /** The first attempt since the link was created. */
  #first: Promise<void> | null = null;
  /** Attempts in a row that did not lead to a working link. */
  #attempts = 0;
  #problem = 'not connected yet';
  /** Reasons already reported since the link was last open. */
  readonly #reported = new Set<string>();

  constructor(options: LinkOptions<L>) {
    this.name = options.name;
    this.#options = options;
  }

  /** Connects, unless already done. Never waits. @param log of the current configuration, like `reconnection`. */
  open(log: Log, reconnection: Reconnection | null = null): void {
    this.#log = log;
    this.#reconnection = reconnection;
    if (this.#series || this.#link || this.#closing.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#first = promise;
    this.#begin(this.#options.firstAttempts, 'fallback', () => {
      this.#first = null;
      resolve();
    });
  }

  /** Returns the open link, after waiting for the first attempt. @throws the `failure` of the options; the call's abort reason. */
  current(call: Call): L | Promise<L> {
    if (this.#link) return this.#link;
    return during(call, this.#first ?? Promise.resolve()).then(() => this.#link ?? this.#missing());
  }

  /** The open link; null without one. */
  get opened(): L | null {
    return this.#link;
  }

  /** Closes the link permanently. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#problem = 'closed';
    const link = this.#link;
    this.#link = null;
    await Promise.all([link?.close(), this.#series]);
  }

  #missing(): never {
    if (!this.#series && !this.#closing.signal.aborted) this.#again();
    throw this.#options.failure?.() ?? new BackendError('BROKER_NOT_CONNECTED', `${this.name}: ${this.#problem}`);
  }

  #again(): void {
    const { maxRetries = 0, strategy } = this.#reconnection ?? {};
    this.#begin(maxRetries > 0 ? maxRetries : undefined, strategy);
  }

  #begin(limit?: number, strategy?: BackoffStrategy, onFirst?: () => void): void {
    const series = this.#try(limit, strategy, onFirst).then(() => {
      // A link that was lost immediately has already started another series, which must stay registered.
      if (this.#series === series) this.#series = null;
    });
    this.#series = series;
  }

  /** @param onFirst runs the first attempt immediately, and is called when it is over. */
  async #try(limit = Number.POSITIVE_INFINITY, strategy?: BackoffStrategy, onFirst?: () => void): Promise<void> {
    const { signal } = this.#closing;
    for (let made = 0; made < limit; made++) {
      const isAtOnce = made === 0 && (onFirst || (!strategy && this.#attempts === 0));
      if (!isAtOnce) await backOff(strategy ?? 'fallback', this.#attempts, signal);
      if (signal.aborted) break;
      this.#attempts++;
      const isOpen = await this.#attempt();
      onFirst?.();
      if (isOpen || signal.aborted) return;
    }
    onFirst?.();
    if (signal.aborted) return;
    this.#attempts = 0;
    this.#log?.error(`${this.name}: not connected after ${limit} attempts`);
  }

  async #attempt(): Promise<boolean> {
    const { signal } = this.#closing;
    let link: L | null = null;
    let loss: Error | null = null;
    const startedAt = performance.now();
    try {
      const lost = (error: Error) => {
        loss ??= error;
        if (link) this.#lost(link, error, performance.now() - startedAt);
      };
      const owner = connectionOwner('broker connection', this.name, lost);
      const opened = await runOwned(owner, this.#options.connect, lost, signal);
      if (signal.aborted || loss) {
        await close(opened);
        throw loss ?? new Error('closed');
      }
      link = opened;
      this.#link = opened;
      this.#log?.info(`${this.name} is connected`);
      this.#reported.clear();
      return true;
    } catch (error) {
      if (!signal.aborted) this.#say('not connected', error);
      return false;
    }
  }

  #lost(link: L, error: Error, afterMs: number): void {
    if (this.#link !== link) return;
    this.#link = null;
    if (afterMs >= SETTLED_MS) this.#attempts = 0;
    this.#say('connection lost', error);
    void close(link);
    this.#again();
  }

  #say(what: string, error: unknown): void {
    const reason = (this.#options.reasonOf ?? reasonOf)(error);
    this.#problem = `${what}: ${reason}`;
    const line = `${this.name} ${this.#problem}`;
    if (this.#reported.has(line) || this.#reported.size >= MAX_REASONS) return this.#log?.debug(line);
    this.#reported.add(line);
    this.#log?.error(line);
  }
}

/** Errors of a link that is discarded are ignored. */
async function close(link: Link): Promise<void> {
  try {
    await link.close();
  } catch {}
}

/** Formats the messages of an error and its causes on one line. */
export function reasonOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 4; at = at.cause) {
    const { message, code } = at as Error & { readonly code?: unknown };
    const text = message || String(code ?? at.name);
    if (!texts.some((before) => before.includes(text))) texts.push(text);
  }
  return texts.join(': ') || String(error);
}
