import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CallError, connectionOwner, runOwned } from '#contract';
import { IPV6_PREFIX, networkOf } from '../../shared/callers/client-identity.ts';

/** Request to a comparison thread. */
export interface Comparison {
  readonly password: string;
  /** Bcrypt hash. */
  readonly hash: string;
}

/** A pending comparison of a password with a hash. */
export interface Comparing {
  /** Rejects with BASIC_THREAD if the thread dies. Never settles if the comparison was dropped. */
  readonly result: Promise<boolean>;
  /** Abandons the comparison. It is never started if it is still queued. */
  drop(): void;
}

interface Job extends Comparison {
  /** Address of the client, or its network: an IPv6 client can use any address of its /64. Null for none. */
  readonly client: string | null;
  readonly settle: (result: boolean) => void;
  readonly fail: (error: Error) => void;
}

/** Maximum number of concurrent comparisons. Each thread takes about 10 MB. */
const MAX_THREADS = Math.min(4, availableParallelism());
/**
 * Maximum number of queued comparisons. Further ones are rejected at once, so that clients cannot queue more work than
 * can be done.
 */
const MAX_WAITING = 1000;
/**
 * Maximum number of queued comparisons of one client, so that its wrong passwords do not prevent the logins of others.
 */
const MAX_WAITING_OF_ONE = 100;

const program = new URL(`./comparison-thread${extname(import.meta.url)}`, import.meta.url);

/** Compares passwords with hashes in threads, because bcrypt is slow by design. Threads are started on first use. */
export class Comparisons {
  readonly #idle: Worker[] = [];
  readonly #threads = new Map<Worker, Job | null>();
  readonly #waiting = new Set<Job>();
  /** Number of queued comparisons by client. */
  readonly #waitingOf = new Map<string, number>();
  #isClosed = false;

  /** @param client address of the client. @returns null if the queue is full, or the client's share of it. */
  compare(password: string, hash: string, client: string | null = null): Comparing | null {
    if (this.#waiting.size >= MAX_WAITING || this.#isClosed) return null;
    const network = client === null ? null : networkOf(client, IPV6_PREFIX);
    if (network !== null && (this.#waitingOf.get(network) ?? 0) >= MAX_WAITING_OF_ONE) return null;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const job: Job = { password, hash, client: network, settle: resolve, fail: reject };
    this.#waiting.add(job);
    this.#count(job, 1);
    this.#next();
    return { result: promise, drop: () => this.#dequeue(job) };
  }

  #dequeue(job: Job): void {
    if (this.#waiting.delete(job)) this.#count(job, -1);
  }

  #count({ client }: Job, change: 1 | -1): void {
    if (client === null) return;
    const count = (this.#waitingOf.get(client) ?? 0) + change;
    if (count > 0) this.#waitingOf.set(client, count);
    else this.#waitingOf.delete(client);
  }

  /** Terminates the threads and their running comparisons. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#waitingOf.clear();
    await Promise.all([...this.#threads.keys()].map((thread) => thread.terminate()));
  }

  #next(): void {
    const [job] = this.#waiting;
    if (!job || this.#isClosed) return;
    const thread = this.#idle.pop() ?? (this.#threads.size < MAX_THREADS ? this.#start() : null);
    if (!thread) return;
    this.#dequeue(job);
    this.#threads.set(thread, job);
    thread.postMessage({ password: job.password, hash: job.hash } satisfies Comparison);
  }

  #start(): Worker {
    // The thread is started by one request but serves all requests, so its messages do not belong to that request.
    const owner = connectionOwner('thread', 'bcrypt', () => void thread.terminate());
    const thread: Worker = runOwned(owner, () => new Worker(program, { name: 'bcrypt', execArgv: [] }));
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
    // Must follow the calls that add listeners: a message listener makes the thread keep the process alive, which
    // `unref` undoes.
    thread.unref();
    return thread;
  }

  /** Fails the thread's current comparison; another thread continues with the queue. */
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
