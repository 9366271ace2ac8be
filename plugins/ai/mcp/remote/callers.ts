import { hash } from 'node:crypto';
import type { ClientRequest } from '#contract';

/** Maximum number of callers with different forwarded headers whose state is kept, for each upstream server. */
const MAX_CALLERS = 1000;

/** State of an upstream server by the forwarded headers of the callers. */
export class Callers<State> {
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
    const state = this.#states.get(key) ?? this.#open(forwarded);
    this.#states.delete(key);
    this.#states.set(key, state);
    if (this.#states.size > MAX_CALLERS) this.#states.delete(this.#states.keys().next().value!);
    return state;
  }
}
