import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CallError, type Clock, connectionOwner, runOwned, timerMs } from '#contract';
import type { ModelFiles } from './model-files.ts';

const code = 'SEMANTIC_CACHE_EMBEDDING';

/** Maximum time for loading the model, in milliseconds. */
const LOAD_MS = 60_000;

/** Time after which a thread that ended is replaced, in milliseconds: loading a model is expensive. */
const RESTART_MS = 10_000;

/** Maximum number of queued texts. Further ones are rejected at once. */
export const MAX_QUEUED = 100;

/** Data that the thread is started with. */
export interface ModelStart extends ModelFiles {
  /** Hash of the files. */
  readonly identity: string;
}

/** Message of the thread: the model is loaded, or the result of a text. */
export interface FromModel {
  readonly isReady?: true;
  readonly vector?: Float32Array;
  /** Reason why the text has no vector. */
  readonly reason?: string;
}

/** A pending vector. */
export interface Embedding {
  /** Rejects with SEMANTIC_CACHE_EMBEDDING. Never settles if the text was dropped. */
  readonly result: Promise<Float32Array>;
  /** Abandons the text. If it is still queued, no vector is computed for it. */
  drop(): void;
}

interface Job {
  readonly text: string;
  readonly limitMs: number;
  readonly settle: (vector: Float32Array) => void;
  readonly fail: (error: Error) => void;
}

const ownProgram = new URL(`./model-thread${extname(import.meta.url)}`, import.meta.url);

/** Runs a model in a thread, which is started on first use. A thread that crashes or hangs is replaced on a later use. */
export class Model {
  readonly #files: ModelFiles;
  readonly #clock: Clock;
  readonly #program: URL;
  readonly #queue = new Set<Job>();
  #identity: Promise<string> | undefined;
  #thread: Worker | null = null;
  #isLoaded = false;
  #running: Job | null = null;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly reason: string; readonly until: number } | null = null;
  #isClosed = false;

  constructor(files: ModelFiles, clock: Clock, program = ownProgram) {
    this.#files = files;
    this.#clock = clock;
    this.#program = program;
  }

  /** Hash of the files, which are read once. @throws the error of the file system. */
  identity(): Promise<string> {
    this.#identity ??= hashOf([this.#files.model, this.#files.tokenizer]);
    return this.#identity;
  }

  /** @param limitMs time after which a thread without a result is ended. @throws CallError if the model is not available. */
  async embed(text: string, limitMs: number): Promise<Embedding> {
    const identity = await this.identity();
    if (this.#isClosed) throw new CallError(code, 'the model is closed');
    if (this.#failure && this.#clock.now() < this.#failure.until) throw new CallError(code, this.#failure.reason);
    if (this.#queue.size >= MAX_QUEUED) throw new CallError(code, `${MAX_QUEUED} texts are queued already`);
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
    const job: Job = { text, limitMs, settle: resolve, fail: reject };
    this.#queue.add(job);
    this.#thread ??= this.#start(identity);
    this.#next();
    return { result: promise, drop: () => void this.#queue.delete(job) };
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    this.#ended(thread, 'the model is closed');
    await thread?.terminate();
  }

  #next(): void {
    const [job] = this.#queue;
    if (!job || !this.#thread || !this.#isLoaded || this.#running) return;
    this.#queue.delete(job);
    this.#running = job;
    this.#expect(this.#thread, job.limitMs, 'the model returned no vector');
    this.#thread.postMessage(job.text);
  }

  #start(identity: string): Worker {
    // The thread is started by one request but serves all requests, so its messages do not belong to that request.
    const owner = connectionOwner('thread', 'onnx', () => void thread.terminate());
    const workerData: ModelStart = { ...this.#files, identity };
    const thread: Worker = runOwned(owner, () => new Worker(this.#program, { name: 'onnx', execArgv: [], workerData }));
    thread.on('message', (message: FromModel) => this.#receive(thread, message));
    thread.on('error', (error: Error) => this.#ended(thread, `the model failed: ${error.message}`));
    thread.on('exit', (status) => this.#ended(thread, `the model failed: the thread exited with code ${status}`));
    // Must follow the calls that add listeners: a message listener makes the thread keep the process alive, which
    // `unref` undoes.
    thread.unref();
    this.#isLoaded = false;
    this.#expect(thread, LOAD_MS, 'the model was not loaded');
    return thread;
  }

  #receive(thread: Worker, { isReady, vector, reason }: FromModel): void {
    if (thread !== this.#thread) return;
    clearTimeout(this.#timer);
    const job = this.#running;
    this.#running = null;
    if (isReady) this.#isLoaded = true;
    else if (vector) job?.settle(vector);
    else job?.fail(new CallError(code, reason ?? 'the model returned no vector'));
    this.#next();
  }

  /** Ends a thread that sends no message within the time. */
  #expect(thread: Worker, ms: number, failure: string): void {
    this.#timer = setTimeout(() => {
      this.#ended(thread, `${failure} within ${ms}ms`);
      void thread.terminate();
    }, timerMs(ms));
    this.#timer.unref();
  }

  #ended(thread: Worker | null, reason: string): void {
    if (thread !== this.#thread) return;
    clearTimeout(this.#timer);
    this.#thread = null;
    this.#failure = { reason, until: this.#clock.now() + RESTART_MS };
    const jobs = [...(this.#running ? [this.#running] : []), ...this.#queue];
    this.#running = null;
    this.#queue.clear();
    for (const job of jobs) job.fail(new CallError(code, reason));
  }
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('base64');
}
