/** A request with its response, or an agent's message, while a configuration processes it. */
export interface InFlight {
  /** Index in the runtime's list, for its use only. */
  slot: number;
  /**
   * Aborts the request: backend calls are canceled, and the client gets an error, or a closed connection if the response has
   * begun.
   * @returns a description of the request for operators.
   */
  abort(): string;
}

/** Tracks the calls of a configuration, which is not released until the last one has ended. */
export interface CallCounter {
  enter(call: InFlight): void;
  leave(call: InFlight): void;
  /** Registers work in the background. @param of description of the owner of the work. */
  background(work: Promise<unknown>, of: string): void;
}
