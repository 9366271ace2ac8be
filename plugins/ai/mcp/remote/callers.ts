import { hash } from 'node:crypto';
import type { ClientRequest } from '#contract';

/** Maximum number of callers with different forwarded headers whose state is kept, for each upstream server. */
const MAX_CALLERS = 1000;
/** Maximum size of the tool lists of all callers of an upstream server, in bytes. The most recent caller always has a list. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** State of an upstream server for one caller. */
export interface CallerState {
  /** Size of the caller's tool list, in bytes. */
  readonly bytes: number;
  /** Releases the resources of a state that is dropped. */
  end(): void;
}

/** State of an upstream server by the forwarded headers of the callers. */
export class Callers<State extends CallerState> {
  /** States by digest of the headers, least recently used first. */
  readonly #states = new Map<string, State>();
  readonly #names: readonly string[];
  readonly #open: (headers: readonly string[]) => State;

  /** @param open creates a state. @param names forwarded headers. */
  constructor(names: readonly string[], open: (headers: readonly string[]) => State) {
    this.#names = names;
    this.#open = open;
  }

  get size(): number {
    return this.#states.size;
  }

  of({ headers }: ClientRequest): State {
    const forwarded = this.#names.flatMap((name) =>
      headers.getAll(name.toLowerCase()).flatMap((value) => [name, value]),
    );
    const key = forwarded.length === 0 ? '' : hash('sha256', JSON.stringify(forwarded));
    const known = this.#states.get(key);
    if (known) this.#states.delete(key);
    else this.#makeRoom();
    const state = known ?? this.#open(forwarded);
    this.#states.set(key, state);
    return state;
  }

  /** All states. */
  all(): Iterable<State> {
    return this.#states.values();
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const state of this.#states.values()) bytes += state.bytes;
    for (const [key, state] of this.#states) {
      if (this.#states.size < MAX_CALLERS && bytes <= MAX_LIST_BYTES) return;
      this.#states.delete(key);
      bytes -= state.bytes;
      state.end();
    }
  }
}
