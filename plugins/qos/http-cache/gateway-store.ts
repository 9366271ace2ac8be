import type { Entry } from './entry.ts';
import type { Landing } from './flights.ts';
import { pack, type Question, type Response, unpack } from './messages.ts';
import type { Asking } from './store.ts';

/** Longest wait for the process that owns the store, in milliseconds: beyond it a request goes its own way. */
const PATIENCE_MS = 250;
/** How long that process is not asked any more when it was silent, in milliseconds. */
const SILENCE_MS = 1_000;
/** Bytes of a body that goes to other processes; a larger one is kept by the worker that fetched it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Bytes of bodies on their way to the owner. */
const MAX_SENT_BYTES = 16 * 1024 * 1024;

/** Asks the process that owns the store. Rejects when it cannot be asked. */
export type Ask = (question: Uint8Array) => Promise<Uint8Array>;

/** The store of the whole gateway, as a worker sees it: it never waits long for it, and never fails with it. */
export class GatewayStore {
  readonly #ask: Ask;
  /** This worker's name. */
  readonly #by: string;
  #silentUntil = 0;
  #sentBytes = 0;

  constructor(ask: Ask, by: string) {
    this.#ask = ask;
    this.#by = by;
  }

  /** What the gateway has, or whether to fetch it; null when the owner does not say so in time. */
  async find(key: string, { asker, headers }: Asking, held: Entry | undefined): Promise<Response | null> {
    if (this.#isSilent) return null;
    const question: Question = {
      ...{ does: 'find', by: this.#by, key, asker },
      headers: headers.list,
      heldSince: held?.since ?? null,
    };
    const { promise, resolve } = Promise.withResolvers<Response | null>();
    const timer = setTimeout(resolve, PATIENCE_MS, null);
    this.#ask(pack(question)).then(
      (bytes) => resolve(unpack<Response>(bytes)),
      () => resolve(null),
    );
    const response = await promise;
    clearTimeout(timer);
    if (response === null) this.#silentUntil = performance.now() + SILENCE_MS;
    return response;
  }

  /** A fetch has brought something to keep. @param askedAt see `moment`. */
  put(entry: Entry, { asker, headers }: Asking, askedAt: number): void {
    const length = entry.body?.length ?? 0;
    if (length > MAX_BODY_BYTES || this.#sentBytes + length > MAX_SENT_BYTES || this.#isSilent) {
      this.land(entry.key, 'not kept');
      return;
    }
    this.#sentBytes += length;
    const arrived = () => {
      this.#sentBytes -= length;
    };
    this.#send({ does: 'put', by: this.#by, entry, asker, headers: headers.list, askedAt }).then(arrived, arrived);
  }

  /** A fetch has ended with nothing to keep. */
  land(key: string, landing: Landing): void {
    if (!this.#isSilent) this.#send({ does: 'land', by: this.#by, key, landing }).catch(ignored);
  }

  /** Something was changed at these addresses. */
  drop(keys: readonly string[]): void {
    this.#send({ does: 'drop', by: this.#by, keys }).catch(ignored);
  }

  /** Empties it, in all workers. */
  clear(): void {
    this.#send({ does: 'clear', by: this.#by }).catch(ignored);
  }

  get #isSilent(): boolean {
    return performance.now() < this.#silentUntil;
  }

  #send(question: Question): Promise<Uint8Array> {
    return this.#ask(pack(question));
  }
}

/** It is a cache: what does not arrive is asked for again. */
function ignored(): void {}
