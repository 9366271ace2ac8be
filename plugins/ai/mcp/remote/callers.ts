import { hash } from 'node:crypto';
import type { ClientRequest } from '#contract';

/** Maximum number of callers with different forwarded headers whose state is kept, for each upstream server. */
const MAX_CALLERS = 1000;
/** Maximum size of the tool lists of all callers of an upstream server, in bytes. The most recent caller always has a list. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

const none: readonly never[] = [];

/** State of an upstream server for one caller. */
export interface CallerState {
  /** Size of the caller's tool list, in bytes. */
  readonly bytes: number;
}

/** State of an upstream server by the forwarded headers of the callers. */
export class Callers<State extends CallerState> {
  /** States by digest of the headers, least recently used first. */
  readonly #states = new Map<string, State>();
  /** Dropped states whose resources are not released yet. */
  #dropped: State[] = [];
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
    const state = this.#states.get(key) ?? this.#open(forwarded);
    const isNew = !this.#states.delete(key);
    this.#states.set(key, state);
    if (isNew) this.trim();
    return state;
  }

  /** Returns the states that were dropped since the last call, whose resources the caller releases. */
  takeDropped(): readonly State[] {
    if (this.#dropped.length === 0) return none;
    const dropped = this.#dropped;
    this.#dropped = [];
    return dropped;
  }

  /** Drops all states. */
  clear(): void {
    for (const state of this.#states.values()) this.#dropped.push(state);
    this.#states.clear();
  }

  /** Drops the least recently used states beyond the limits. Called when a list has been read, too. */
  trim(): void {
    let bytes = 0;
    for (const state of this.#states.values()) bytes += state.bytes;
    for (const [key, state] of this.#states) {
      const { size } = this.#states;
      if (size <= MAX_CALLERS && (bytes <= MAX_LIST_BYTES || size === 1)) return;
      this.#states.delete(key);
      bytes -= state.bytes;
      this.#dropped.push(state);
    }
  }
}
