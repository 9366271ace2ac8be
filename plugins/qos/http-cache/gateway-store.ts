import type { Entry } from './entry.ts';
import type { Landing } from './flights.ts';
import { pack, type Question, type Response, unpack } from './messages.ts';
import type { Asking } from './store.ts';

/** Maximum time to wait for the process that owns the store, in milliseconds; beyond it a request continues without the store. */
const PATIENCE_MS = 250;
/** Time for which an unresponsive owner is not contacted again, in milliseconds. */
const SILENCE_MS = 1_000;
/** Maximum size of a body that is sent to other processes, in bytes; a larger one is stored only by the worker that fetched it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Maximum total size of bodies being sent to the owner, in bytes. */
const MAX_SENT_BYTES = 16 * 1024 * 1024;

/** Sends a question to the process that owns the store. Rejects when that is not possible. */
export type Ask = (question: Uint8Array) => Promise<Uint8Array>;

/** A worker's client of the gateway-wide store: never waits long for it, and never fails because of it. */
export class GatewayStore {
  readonly #ask: Ask;
  /** Id of this worker. */
  readonly #by: string;
  #silentUntil = 0;
  #sentBytes = 0;

  constructor(ask: Ask, by: string) {
    this.#ask = ask;
    this.#by = by;
  }

  /** The gateway's stored response, or whether to fetch it; null when the owner does not respond in time. */
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

  /** Sends the result of a fetch to the store. @param requestedAt see `moment`. */
  put(entry: Entry, { asker, headers }: Asking, requestedAt: number): void {
    const length = entry.body?.length ?? 0;
    if (length > MAX_BODY_BYTES || this.#sentBytes + length > MAX_SENT_BYTES || this.#isSilent) {
      this.land(entry.key, 'not kept');
      return;
    }
    this.#sentBytes += length;
    const arrived = () => {
      this.#sentBytes -= length;
    };
    this.#send({ does: 'put', by: this.#by, entry, asker, headers: headers.list, requestedAt }).then(arrived, arrived);
  }

  /** Reports a fetch whose response is not stored. */
  land(key: string, landing: Landing): void {
    if (!this.#isSilent) this.#send({ does: 'land', by: this.#by, key, landing }).catch(ignored);
  }

  /** Invalidates the responses of these addresses. */
  drop(keys: readonly string[]): void {
    this.#send({ does: 'drop', by: this.#by, keys }).catch(ignored);
  }

  /** Clears the store in all workers. */
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

/** Errors are ignored, because a lost message does not harm a cache: missing responses are fetched again. */
function ignored(): void {}
