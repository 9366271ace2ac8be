import type { Call, Clock } from '#contract';
import { during } from '../../../shared/calls/during.ts';
import type { ToolList } from './read-tools.ts';

/** Pause after a failed attempt to read a list, in milliseconds. */
const PAUSE_MS = 10_000;

/** Tool list of an upstream server, read when it is first needed and again after its lifetime or an announced change. */
export class CachedTools {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #wasRead: () => void;
  #list: ToolList | null = null;
  #freshUntil = Number.NEGATIVE_INFINITY;
  /** Whether a change was announced while the list was being read. */
  #isOutdated = false;
  #reading: Promise<ToolList | null> | null = null;

  /** @param wasRead called when the list has been replaced. */
  constructor(clock: Clock, ttlMs: number, wasRead: () => void) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#wasRead = wasRead;
  }

  /** Size of the list, in bytes. */
  get bytes(): number {
    return this.#list?.bytes ?? 0;
  }

  /** Marks the tool list as outdated, so that the next caller requests it again. */
  expire(): void {
    this.#freshUntil = Number.NEGATIVE_INFINITY;
    this.#isOutdated = true;
  }

  /**
   * Returns the list; null if the server is unavailable. Waits at most for half of the time that the call has left, so
   * that an unresponsive server does not prevent a response.
   * @param read reads the list, for a limited time; null if the server is unavailable. Never rejects.
   */
  async get(call: Call, read: () => Promise<ToolList | null>): Promise<ToolList | null> {
    if (this.#reading === null && this.#clock.now() < this.#freshUntil) return this.#list;
    const isOwn = this.#reading === null;
    const list = await this.#wait(call, read);
    // A reading that ended with the configuration of another call says nothing about the server.
    return list === null && !isOwn && this.#isOutdated ? this.#wait(call, read) : list;
  }

  async #wait(call: Call, read: () => Promise<ToolList | null>): Promise<ToolList | null> {
    this.#reading ??= this.#refresh(read);
    const part = call.fork(call.remainingMs / 2);
    try {
      return await during(part, this.#reading);
    } catch {
      return null;
    } finally {
      part.finish();
    }
  }

  async #refresh(read: () => Promise<ToolList | null>): Promise<ToolList | null> {
    this.#isOutdated = false;
    this.#list = await read();
    const lifetimeMs = this.#list ? this.#ttlMs : Math.min(PAUSE_MS, this.#ttlMs);
    if (!this.#isOutdated) this.#freshUntil = this.#clock.now() + lifetimeMs;
    this.#reading = null;
    this.#wasRead();
    return this.#list;
  }
}
