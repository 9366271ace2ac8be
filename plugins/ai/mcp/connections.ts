import { type ByteStream, type Call, CancelledError, type Data, type McpCaller } from '#contract';

/** What every process is told: a session is over, another stream of it is the one that counts, or a call is given up. */
export type ConnectionChange =
  | { readonly session: string; readonly except: string }
  | { readonly session: string; readonly request: Data }
  | { readonly session: '' };

/** A client that listens. */
export interface Listener {
  readonly id: string;
  readonly body: ByteStream;
  end(): void;
}

/** What this process does for the clients of a server: streams that are open, and calls that are under way. */
export class Connections {
  readonly #listeners = new Map<string, Listener>();
  readonly #running = new Map<string, Call>();

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

  /** A call that its client may give up. @returns ends the entry. */
  enter({ session, request }: McpCaller, call: Call): () => void {
    if (session === null) return () => {};
    const key = keyOf(session, request);
    this.#running.set(key, call);
    return () => {
      if (this.#running.get(key) === call) this.#running.delete(key);
    };
  }

  apply(change: ConnectionChange): void {
    if ('except' in change) {
      const listener = this.#listeners.get(change.session);
      if (listener && listener.id !== change.except) listener.end();
    } else if ('request' in change) {
      this.#running.get(keyOf(change.session, change.request))?.cancel(new CancelledError());
    }
  }
}

function keyOf(session: string, request: Data): string {
  return `${session} ${JSON.stringify(request)}`;
}
