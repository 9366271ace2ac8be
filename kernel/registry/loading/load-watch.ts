import { extname } from 'node:path';
import { isMainThread, Worker } from 'node:worker_threads';
import { freeDebuggerOf } from '../../containment/debugger-lock.ts';
import { marks } from '../../containment/marks.ts';
import { placeInSource, type SourcePlace } from '../../containment/source-columns.ts';

/** A file whose evaluation starts. */
export interface Evaluation {
  readonly file: string;
}

/** Data of the watching thread. */
export interface WatchData {
  readonly marks: Int32Array;
  /** Length of the text in `bytes` that describes the position of the blocked code; 0 while it is unknown. */
  readonly length: Int32Array;
  readonly bytes: Uint8Array;
  /** Time after which the position of the running code is determined, in milliseconds. */
  readonly locateMs: number;
  /** Time after which the thread itself reports the file, in milliseconds. */
  readonly reportMs: number;
}

/**
 * Additional time, in milliseconds, within which the evaluation's own time limit ends it. Only a system call can take
 * longer.
 */
const GRACE_MS = 2000;
/** Maximum length of the text that describes a position in the source, in bytes. */
const PLACE_BYTES = 8192;

/**
 * Watches the evaluation of plugin files in the main thread, before the first configuration is loaded. It determines
 * the line of an endless loop, and reports a file that waits in a system call while it still waits.
 */
export class LoadWatch {
  readonly #length = new Int32Array(new SharedArrayBuffer(4));
  readonly #bytes = new Uint8Array(new SharedArrayBuffer(PLACE_BYTES));
  readonly #loadMs: number;
  #thread: Worker | undefined;

  /** @param loadMs time limit for the evaluation of one file. */
  constructor(loadMs: number) {
    this.#loadMs = loadMs;
  }

  begin(file: string): void {
    if (!isMainThread) return;
    Atomics.store(this.#length, 0, 0);
    this.#thread ??= this.#start();
    this.#thread.postMessage({ file } satisfies Evaluation);
  }

  /** @returns the position of the running code when half of the time limit had passed, if it is known. */
  end(): SourcePlace | undefined {
    this.#thread?.postMessage(null);
    const length = Atomics.load(this.#length, 0);
    if (length === 0) return undefined;
    const place = JSON.parse(Buffer.from(this.#bytes.slice(0, length)).toString()) as SourcePlace;
    return placeInSource(place);
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = undefined;
    const { threadId } = thread;
    await thread.terminate();
    freeDebuggerOf(threadId);
  }

  #start(): Worker {
    const program = new URL(`./load-watch-thread${extname(import.meta.url)}`, import.meta.url);
    const workerData: WatchData = {
      marks,
      length: this.#length,
      bytes: this.#bytes,
      locateMs: this.#loadMs / 2,
      reportMs: this.#loadMs + GRACE_MS,
    };
    const thread = new Worker(program, { workerData, name: 'load-watch', execArgv: [] });
    thread.unref();
    // If the thread fails, plugins are loaded without being watched.
    thread.on('error', () => {});
    return thread;
  }
}
