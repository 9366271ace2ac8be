/** A request and its response, or a message of an agent, while a configuration serves them. */
export interface InFlight {
  /** Where the runtime keeps it; nobody else's business. */
  slot: number;
  /**
   * Gives it up: its backends are let go, and a client gets a failure, or a broken connection when it has a part.
   * @returns what it asked for, as an operator knows it.
   */
  abort(): string;
}

/** Knows the calls of a configuration, which is not released before the last of them has left. */
export interface CallCounter {
  enter(call: InFlight): void;
  leave(call: InFlight): void;
  /** @param of what the work belongs to. */
  background(work: Promise<unknown>, of: string): void;
}
