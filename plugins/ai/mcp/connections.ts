import { type ByteStream, type Call, CancelledError, type Data, type McpCaller } from '#contract';

/**
 * Change that is broadcast to all processes: a session has a new stream or none, a call is canceled, the client of a
 * session has disconnected, or a message must be delivered by the process that has the session's stream.
 */
export type ConnectionChange =
  | { readonly session: string; readonly except: string }
  | { readonly session: string; readonly request: Data }
  | { readonly session: string; readonly message: string }
  | { readonly session: string; readonly left: true }
  | { readonly session: '' };

/** Stream of a listening client. */
export interface Listener {
  readonly id: string;
  readonly body: ByteStream;
  send(event: string): void;
  end(): void;
}

/**
 * Maximum number of calls per session that this process answers over the session's stream at a time. Further calls are
 * rejected with 429.
 */
const MAX_PENDING = 32;

/** Open streams and running calls of a server's clients in this process. */
export class Connections {
  readonly #listeners = new Map<string, Listener>();
  /** Running calls by session. */
  readonly #running = new Map<string, Set<RunningCall>>();
  /** Number of messages being answered over the session's stream, by session. */
  readonly #pending = new Map<string, number>();

  /** Number of listening clients in this process. */
  get listening(): number {
    return this.#listeners.size;
  }

  listen(session: string, listener: Listener): void {
    this.#listeners.get(session)?.end();
    this.#listeners.set(session, listener);
  }

  left(session: string, listener: Listener): void {
    if (this.#listeners.get(session) === listener) this.#listeners.delete(session);
  }

  /** @returns false if this process does not have the session's stream. */
  send(session: string, event: string): boolean {
    const listener = this.#listeners.get(session);
    listener?.send(event);
    return listener !== undefined;
  }

  /**
   * Registers a message that is answered over the stream.
   * @returns a function that removes the entry; null if the session has too many pending messages.
   */
  begin(session: string): (() => void) | null {
    const pending = this.#pending.get(session) ?? 0;
    if (pending >= MAX_PENDING) return null;
    this.#pending.set(session, pending + 1);
    return () => {
      const left = this.#pending.get(session)! - 1;
      if (left === 0) this.#pending.delete(session);
      else this.#pending.set(session, left);
    };
  }

  /** Registers a running call, so that its client can cancel it. @returns a function that removes the entry. */
  enter({ session, request }: McpCaller, call: Call): () => void {
    if (session === null) return () => {};
    const entry: RunningCall = { request: JSON.stringify(request), call };
    const calls = this.#running.get(session) ?? new Set();
    this.#running.set(session, calls.add(entry));
    return () => {
      calls.delete(entry);
      if (calls.size === 0) this.#running.delete(session);
    };
  }

  apply(change: ConnectionChange): void {
    const { session } = change;
    if ('except' in change) {
      const listener = this.#listeners.get(session);
      if (listener && listener.id !== change.except) listener.end();
    } else if ('message' in change) {
      this.send(session, change.message);
    } else if ('request' in change) {
      this.#cancel(session, JSON.stringify(change.request));
    } else if ('left' in change) {
      this.#cancel(session, null);
    }
  }

  /** @param request request ID as JSON; null for all requests of the session. */
  #cancel(session: string, request: string | null): void {
    for (const entry of [...(this.#running.get(session) ?? [])]) {
      if (request === null || entry.request === request) entry.call.cancel(new CancelledError());
    }
  }
}

interface RunningCall {
  /** Request ID, as JSON. */
  readonly request: string;
  readonly call: Call;
}
