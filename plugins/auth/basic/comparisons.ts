import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CallError, connectionOwner, runOwned } from '#contract';

/** What a thread is asked. */
export interface Comparison {
  readonly password: string;
  /** By bcrypt. */
  readonly hash: string;
}

/** A comparison that is on its way. */
export interface Comparing {
  /** Fails with BASIC_THREAD where the thread has died. Stays open for one that was dropped. */
  readonly result: Promise<boolean>;
  /** Nobody waits for it any more: one that has not begun never does. */
  drop(): void;
}

interface Job extends Comparison {
  readonly settle: (result: boolean) => void;
  readonly fail: (error: Error) => void;
}

/** Comparisons that run at once. Each thread takes some 10 MB. */
const MAX_THREADS = Math.min(4, availableParallelism());
/** Comparisons that wait: a client that makes more work than there is time for is refused at once. */
const MAX_WAITING = 1000;

const program = new URL(`./comparison-thread${extname(import.meta.url)}`, import.meta.url);

/** Compares passwords with hashes, which takes long on purpose, in threads that begin with the first comparison. */
export class Comparisons {
  readonly #idle: Worker[] = [];
  readonly #threads = new Map<Worker, Job | null>();
  readonly #waiting = new Set<Job>();
  #isClosed = false;

  /** @returns null where too many wait already. */
  compare(password: string, hash: string): Comparing | null {
    if (this.#waiting.size >= MAX_WAITING || this.#isClosed) return null;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const job: Job = { password, hash, settle: resolve, fail: reject };
    this.#waiting.add(job);
    this.#next();
    return { result: promise, drop: () => this.#waiting.delete(job) };
  }

  /** Ends the threads, with what they are doing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  #next(): void {
    const [job] = this.#waiting;
    if (!job || this.#isClosed) return;
    const thread = this.#idle.pop() ?? (this.#threads.size < MAX_THREADS ? this.#start() : null);
    if (!thread) return;
    this.#waiting.delete(job);
    this.#threads.set(thread, job);
    thread.postMessage({ password: job.password, hash: job.hash } satisfies Comparison);
  }

  #start(): Worker {
    // The first request starts it: its messages are those of all requests.
    const owner = connectionOwner('thread', 'bcrypt', () => void thread.terminate());
    const thread: Worker = runOwned(owner, () => new Worker(program, { name: 'bcrypt', execArgv: [] }));
    thread.unref();
    this.#threads.set(thread, null);
    thread.on('message', (isEqual: boolean) => {
      this.#threads.get(thread)?.settle(isEqual);
      this.#threads.set(thread, null);
      this.#idle.push(thread);
      this.#next();
    });
    const ended = (cause?: Error) => this.#ended(thread, cause);
    thread.on('error', ended);
    thread.on('exit', () => ended());
    return thread;
  }

  /** What it was doing fails, and another thread goes on with the rest. */
  #ended(thread: Worker, cause?: Error): void {
    if (!this.#threads.has(thread)) return;
    const job = this.#threads.get(thread);
    this.#threads.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    job?.fail(new CallError('BASIC_THREAD', 'a password could not be compared', { cause }));
    this.#next();
  }
}
