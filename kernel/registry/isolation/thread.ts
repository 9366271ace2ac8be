import type { IsolatedModule, Log, ThreadUser } from '#contract';
import { receiveError } from './sent-error.ts';
import { startThread, type ThreadOptions, type ThreadSession } from './session.ts';
import { LEAVE, OPEN, STRAY } from './thread-start.ts';

/**
 * Shortest delay before a thread is restarted, in milliseconds. The delay doubles each time the thread ends again soon.
 */
const LEAST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Uptime after which the restart delay is reset, in milliseconds. */
const SETTLED_MS = 60_000;
/** Maximum number of output lines and unhandled failures that are forwarded per second. */
const MOST_LINES = 100;

interface Place {
  readonly user: ThreadUser;
  /** Whether this user of the thread has begun to serve. It does so once more after a restart of the thread. */
  hasBegun: boolean;
}

/** The thread for one content of a plugin's file. It runs while it has users, and is restarted when it ends by itself. */
export class IsolatedThread implements IsolatedModule {
  readonly manifest: unknown;
  readonly #options: ThreadOptions;
  readonly #places = new Map<number, Place>();
  #next = 1;
  #session: ThreadSession | null = null;
  /** Resolves when the last session without users has ended. */
  #closing: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | null = null;
  #failures = 0;
  #passedOn = { since: 0, lines: 0 };

  constructor(manifest: unknown, options: ThreadOptions) {
    this.manifest = manifest;
    this.#options = options;
  }

  async join(user: ThreadUser): Promise<() => Promise<void>> {
    const id = this.#next++;
    const place: Place = { user, hasBegun: false };
    this.#places.set(id, place);
    try {
      const session = await this.#open();
      await this.#begin(session, id, place);
      place.hasBegun = true;
    } catch (error) {
      await this.#leave(id);
      throw error;
    }
    return () => this.#leave(id);
  }

  async #begin(session: ThreadSession, id: number, { user }: Place): Promise<void> {
    const { ask, say } = session.line.at(id);
    const watched: typeof ask = (operation, value) => {
      const answer = ask(operation, value);
      session.watch();
      return answer;
    };
    await watched(OPEN, null);
    await user.started({ ask: watched, say });
  }

  async #leave(id: number): Promise<void> {
    if (!this.#places.delete(id)) return;
    this.#session?.line.at(id).say(LEAVE, null);
    if (this.#places.size > 0) return;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    const session = this.#session;
    this.#session = null;
    if (session) this.#closing = session.close();
    await this.#closing;
  }

  async #open(): Promise<ThreadSession> {
    await this.#closing;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    const session = this.#session ?? this.#start();
    await session.loaded;
    return session;
  }

  #start(): ThreadSession {
    const session = startThread(this.#options, { receive: this.#receive, output: this.#output });
    this.#session = session;
    void session.ended.then((reason) => this.#ended(session, reason));
    // Places that were in use when the previous thread ended. They are opened again in this thread.
    const again = [...this.#places].filter(([, { hasBegun }]) => hasBegun);
    if (again.length > 0) void this.#beginAgain(session, again);
    return session;
  }

  async #beginAgain(session: ThreadSession, places: readonly (readonly [number, Place])[]): Promise<void> {
    try {
      await session.loaded;
    } catch (error) {
      // The handler of the session's end restarts the thread.
      await session.end(error as Error);
      return;
    }
    const begin = async ([id, place]: readonly [number, Place]): Promise<void> => {
      try {
        if (this.#places.has(id)) await this.#begin(session, id, place);
      } catch (error) {
        place.user.log.error(`an isolated plugin could not be restarted: ${(error as Error).message}`);
      }
    };
    await Promise.all(places.map(begin));
  }

  #ended(session: ThreadSession, reason: Error): void {
    if (this.#session !== session) return;
    this.#session = null;
    for (const { user } of this.#places.values()) user.ended(reason);
    if (this.#places.size === 0) return;
    this.#failures = performance.now() - session.startedAt >= SETTLED_MS ? 0 : this.#failures + 1;
    const pauseMs = Math.min(LEAST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 20), LONGEST_PAUSE_MS);
    this.#log?.error(`${reason.message}; restarting in ${Math.round(Math.max(pauseMs, LEAST_PAUSE_MS))} ms`);
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#start();
    }, pauseMs).unref();
  }

  get #log(): Log | undefined {
    const { value } = this.#places.values().next();
    return value?.user.log;
  }

  readonly #receive = (id: number, operation: string, value: unknown): unknown => {
    if (id === 0 && operation === STRAY) return this.#stray(value);
    const place = this.#places.get(id);
    if (!place) throw new Error('the configuration that used the module no longer exists');
    return place.user.receive(operation, value);
  };

  /**
   * Handles an unhandled failure of the thread like any other: if plugins are contained, it is reported and counted as
   * a fault of the plugin.
   */
  #stray(value: unknown): void {
    if (this.#mayPass) void Promise.reject(receiveError(value));
  }

  readonly #output = (line: string): void => {
    if (this.#mayPass) this.#log?.info(line.slice(0, 8192));
  };

  get #mayPass(): boolean {
    const now = performance.now();
    if (now - this.#passedOn.since >= 1000) this.#passedOn = { since: now, lines: 0 };
    return ++this.#passedOn.lines <= MOST_LINES;
  }
}
