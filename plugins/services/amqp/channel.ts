import type { ConfirmChannel } from 'amqplib';
import { type Call, type Log, timerMs } from '#contract';
import { type BackoffStrategy, backOff } from '../backoff.ts';
import type { AmqpConnection } from './connection.ts';
import type { Link } from './link.ts';
import { limitMessages } from './message-limit.ts';
import { AmqpTrouble, NOT_CONNECTED, reasonOf } from './trouble.ts';

/** What is done with a channel. */
export interface ChannelUse<T> {
  /** Declares and begins; a failure counts as no connection. @param lost to be called when it cannot go on. */
  open(channel: ConfirmChannel, link: Link, lost: (error: Error) => void): Promise<T>;
  /** Ends in order before the channel is closed; not called when the channel was lost. */
  close?(value: T): Promise<void>;
}

/** How often and when a channel is opened again. */
export interface Reconnection {
  /** Attempts in a row; 0 or less for no limit. */
  readonly maxRetries: number;
  readonly strategy: BackoffStrategy;
}

/** Attempts at first, whatever the configuration says of later ones. */
const FIRST_ATTEMPTS = 3;

/** A channel that was open for less, in milliseconds, has not worked: the pauses go on growing. */
const SETTLED_MS = 5000;

/** Longest wait for the broker to open a channel with all that it is used for, and to close one, in milliseconds. */
const OPENING_MS = 10_000;
const CLOSING_MS = 1000;

/**
 * A channel that is opened again whenever it is lost, with its connection if need be. Nobody waits for it but those who come
 * during the very first attempt: without it, whoever asks gets an error at once, and another series of attempts begins.
 */
export class AmqpChannel<T> {
  readonly #connection: AmqpConnection;
  readonly #use: ChannelUse<T>;
  readonly #closing = new AbortController();
  #reconnection: Reconnection = { maxRetries: 0, strategy: 'fallback' };
  #log: Log;
  #current: { readonly value: T; readonly channel: ConfirmChannel } | null = null;
  /** The very first attempt, while it is being made. */
  #opening: Promise<void> | null = null;
  #series: Promise<void> | null = null;
  /** Attempts in a row that did not lead to a channel that worked. */
  #attempts = 0;
  #openedAt = 0;
  #logged = '';

  constructor(connection: AmqpConnection, use: ChannelUse<T>, log: Log) {
    this.#connection = connection;
    this.#use = use;
    this.#log = log;
  }

  /** What it is used for; null while it is not there. */
  get current(): T | null {
    return this.#current?.value ?? null;
  }

  /** Begins; once it has begun, takes over other settings. */
  start(reconnection: Reconnection, log: Log): void {
    this.#reconnection = reconnection;
    this.#log = log;
    if (this.#current || this.#series || this.#closing.signal.aborted) return;
    this.#opening = new Promise((resolve) => {
      const onFirst = () => {
        this.#opening = null;
        resolve();
      };
      this.#begin(FIRST_ATTEMPTS, 'fallback', onFirst);
    });
  }

  /**
   * What it is used for. @throws AmqpTrouble when it is not there, after which it is being opened; the reason of the call when
   * that ends during the very first attempt.
   */
  async ready(call: Call): Promise<T> {
    if (this.#opening) await raced(this.#opening, call);
    if (this.#current) return this.#current.value;
    this.#wake();
    throw new AmqpTrouble(NOT_CONNECTED);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const { signal } = this.#closing;
    const held = this.#current;
    this.#current = null;
    if (held) {
      const ended = Promise.resolve(this.#use.close?.(held.value)).then(() => held.channel.close());
      await within(CLOSING_MS, ended, signal).catch(() => {});
    }
    await this.#series;
  }

  #wake(): void {
    const { maxRetries, strategy } = this.#reconnection;
    if (!this.#series) this.#begin(maxRetries > 0 ? maxRetries : Number.POSITIVE_INFINITY, strategy);
  }

  #begin(limit: number, strategy: BackoffStrategy, onFirst?: () => void): void {
    this.#series = this.#open(limit, strategy, onFirst).then(() => {
      this.#series = null;
    });
  }

  /** @param onFirst makes the first attempt at once, and is called when it is over. */
  async #open(limit: number, strategy: BackoffStrategy, onFirst?: () => void): Promise<void> {
    const { signal } = this.#closing;
    for (let made = 0; made < limit; made++) {
      if (!onFirst || made > 0) await backOff(strategy, this.#attempts, signal);
      if (signal.aborted) break;
      this.#attempts++;
      const isOpen = await this.#attempt();
      onFirst?.();
      if (isOpen || signal.aborted) return;
    }
    onFirst?.();
    if (signal.aborted) return;
    this.#attempts = 0;
    this.#log.error(`[AMQP] ${this.#connection.name}: not connected after ${limit} attempts`);
  }

  async #attempt(): Promise<boolean> {
    const { signal } = this.#closing;
    let link: Link | null = null;
    try {
      // It has a time of its own, for which who closes the channel does not wait.
      link = await within(Number.POSITIVE_INFINITY, this.#connection.link(), signal);
      await this.#openOn(link, signal);
      this.#log.info(`[AMQP] ${this.#connection.name}: connected`);
      this.#logged = '';
      return true;
    } catch (error) {
      // A broker that does not respond would not do so to others either.
      if (error instanceof Silence && !signal.aborted) await link?.close();
      if (!signal.aborted) this.#say(reasonOf(error));
      return false;
    }
  }

  async #openOn(link: Link, signal: AbortSignal): Promise<void> {
    const opening = link.model.createConfirmChannel();
    const channel = await within(OPENING_MS, opening, signal).catch((error) => {
      opening.then(discard, () => {});
      throw error;
    });
    let trouble: Error | null = null;
    let isOpen = true;
    const lost = (error: Error) => {
      trouble ??= error;
      if (!isOpen) return;
      isOpen = false;
      if (this.#current?.channel === channel) this.#lost(trouble);
    };
    // Without listeners an error would end the process.
    channel.on('error', (error) => {
      trouble ??= error;
    });
    channel.on('handler-error', (error) => {
      trouble ??= error;
      discard(channel);
    });
    // With its connection it is lost first, and the connection knows why.
    channel.on('close', () => setImmediate(lost, new Error('channel closed')));
    void link.closed.then(lost);
    limitMessages(channel);
    try {
      const value = await within(OPENING_MS, this.#use.open(channel, link, lost), signal);
      if (!isOpen) throw trouble ?? new Error('channel closed');
      this.#current = { value, channel };
      this.#openedAt = performance.now();
    } catch (error) {
      discard(channel);
      // All the library says where the channel was closed for something else.
      const isVague = /no reply will be forthcoming/.test((error as Error).message);
      throw (isVague && trouble) || error;
    }
  }

  #lost(error: Error): void {
    const { channel } = this.#current!;
    this.#current = null;
    discard(channel);
    if (this.#closing.signal.aborted) return;
    if (performance.now() - this.#openedAt >= SETTLED_MS) this.#attempts = 0;
    this.#say(reasonOf(error));
    this.#wake();
  }

  /** The same reason again is for who looks closely. */
  #say(reason: string): void {
    const line = `[AMQP] ${this.#connection.name}: ${reason}`;
    if (reason === this.#logged) this.#log.debug(line);
    else this.#log.error(line);
    this.#logged = reason;
  }
}

/** Closes a channel that nobody uses any more, whatever its state. */
function discard(channel: ConfirmChannel): void {
  channel.on('error', () => {});
  channel.close().catch(() => {});
}

/** The broker owes a response for longer than it may. */
class Silence extends Error {}

/** What a promise brings in time. @throws Silence after that time; Error when the signal is aborted. */
function within<T>(ms: number, promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(late);
      signal.removeEventListener('abort', giveUp);
    };
    const late = setTimeout(() => {
      settle();
      reject(new Silence(`no response within ${ms}ms`));
    }, timerMs(ms));
    const giveUp = () => {
      settle();
      reject(new Error('closed'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    promise.finally(settle).then(resolve, reject);
  });
}

/** Waits for something that does not fail, as long as the call goes on. @throws the reason of the call. */
function raced(waiting: Promise<void>, call: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancellation = call.onCancel(reject);
    void waiting.then(() => {
      cancellation.off();
      resolve();
    });
  });
}
