import { type ByteStream, type Call, CancelledError, type Data, type McpCaller } from '#contract';

/**
 * What every process is told: another stream of a session is the one that counts, or none; a call is given up; the client of
 * a session has left; a message is for whoever has the stream of a session.
 */
export type ConnectionChange =
  | { readonly session: string; readonly except: string }
  | { readonly session: string; readonly request: Data }
  | { readonly session: string; readonly message: string }
  | { readonly session: string; readonly left: true }
  | { readonly session: '' };

/** A client that listens. */
export interface Listener {
  readonly id: string;
  readonly body: ByteStream;
  send(event: string): void;
  end(): void;
}

/** Calls of one session that are under way in this process and answered over its stream; of more, 429. */
const MAX_PENDING = 32;

/** What this process does for the clients of a server: streams that are open, and calls that are under way. */
export class Connections {
  readonly #listeners = new Map<string, Listener>();
  /** By session. */
  readonly #running = new Map<string, Set<RunningCall>>();
  /** How many messages of a session are being answered over its stream. */
  readonly #pending = new Map<string, number>();

  /** Clients that listen here. */
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

  /** @returns false where this process does not have the stream. */
  send(session: string, event: string): boolean {
    const listener = this.#listeners.get(session);
    listener?.send(event);
    return listener !== undefined;
  }

  /** A message whose answer goes over the stream. @returns ends the entry; null where there are too many. */
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

  /** A call that its client may give up. @returns ends the entry. */
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

  /** @param request null for all of the session. */
  #cancel(session: string, request: string | null): void {
    for (const entry of [...(this.#running.get(session) ?? [])]) {
      if (request === null || entry.request === request) entry.call.cancel(new CancelledError());
    }
  }
}

interface RunningCall {
  /** What it is known by, as JSON. */
  readonly request: string;
  readonly call: Call;
}
