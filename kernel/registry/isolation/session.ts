import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { MessageChannel, Worker } from 'node:worker_threads';
import { type Position, PositionedError } from '../../config/index.ts';
import { notePlaced, placeInSource, type SourcePlace, textOf } from '../../containment/source-columns.ts';
import { boundToOwner, connectionOwner, runOwned } from '../../contract/internal.ts';
import { refusesConnections } from '../../net/guard-connections.ts';
import { isObject } from '../../values/data.ts';
import type { FileReader } from '../loading/file-reader.ts';
import { UNFINISHED } from '../loading/source-error.ts';
import { endAtPlace } from './end-at-place.ts';
import { FLOOD, MessageRate } from './message-rate.ts';
import { PortLine, type ReceiveAt } from './port-line.ts';
import { receiveError } from './sent-error.ts';
import { serveFiles } from './served-files.ts';
import { CLOSE, type ThreadLoaded, type ThreadStart } from './thread-start.ts';

/** Options of a thread. */
export interface ThreadOptions {
  readonly entry: string;
  /** The program that exports `guest`. */
  readonly guest: URL;
  /** Reads the module's files. */
  readonly files: Pick<FileReader, 'read'>;
  /** Time limit for the evaluation of the module, in milliseconds. */
  readonly loadMs: number;
}

/** Events for the starter of a serving thread. */
export interface ThreadListener {
  readonly receive: ReceiveAt;
  /** A line that the module has written to standard output or standard error. */
  output(line: string): void;
}

/** Resource limits of a thread. Bytes outside the heap, such as those of buffers, are not counted. */
const limits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, codeRangeSizeMb: 32, stackSizeMb: 4 };

/** Time for the thread itself to start, in addition to its module, in milliseconds. */
const BOOT_MS = 10_000;
/** Time limit for the module to release its resources at the end, in milliseconds. */
const CLOSE_MS = 5_000;
/** Interval of the checks of the thread's event loop, in milliseconds. A check that itself runs late is ignored. */
const LOOK_MS = 50;
/** Time in milliseconds after which a thread is ended if its event loop is blocked while a response is pending. */
export const HELD_MS = 1000;

let count = 0;

/** Starts a thread. If one of its handlers in this thread fails, the thread is ended and restarted. */
export function startThread(options: ThreadOptions, listener: ThreadListener | null): ThreadSession {
  let session: ThreadSession | null = null;
  const fail = ({ message }: Error): void => void session?.end(new ThreadEnded(`internal error: ${message}`));
  const owner = connectionOwner('plugin thread', options.entry, fail);
  session = runOwned(owner, () => new ThreadSession(options, listener));
  return session;
}

/** The thread has ended or could not be started. */
export class ThreadEnded extends Error {
  constructor(reason: string, place: string | null = null) {
    super(reason);
    this.name = new.target.name;
    // The stack contains only the position in the plugin's source, because the position of this code would be
    // misleading.
    this.stack = place === null ? '' : `${this.name}: ${reason}\n    at ${place}`;
    notePlaced(this);
  }
}

/** One session of a plugin's thread, from its start to its end. */
export class ThreadSession {
  /** The manifest of the module. @throws ConfigError for an invalid module; ThreadEnded. */
  readonly loaded: Promise<ThreadLoaded>;
  /** Reason for the end of the thread. Never rejects. */
  readonly ended: Promise<Error>;
  readonly line: PortLine;
  readonly startedAt = performance.now();
  readonly #worker: Worker;
  readonly #name = `isolated-${++count}`;
  readonly #beat = new Int32Array(new SharedArrayBuffer(4));
  readonly #listener: ThreadListener | null;
  readonly #sources: ThreadOptions['files'];
  #files: readonly string[] = [];
  #reason: Error | null = null;
  #watch: NodeJS.Timeout | null = null;
  readonly #rate = new MessageRate(this.startedAt);
  /** Called for each request: checks the thread until no response is pending. */
  readonly watch = boundToOwner(() => this.#look());

  /** @param listener null if only the manifest is needed. */
  constructor({ entry, guest, files, loadMs }: ThreadOptions, listener: ThreadListener | null) {
    this.#listener = listener;
    this.#sources = files;
    const program = new URL(`./program${extname(import.meta.url)}`, import.meta.url);
    const { port1: port, port2: otherPort } = new MessageChannel();
    const { port1: filesPort, port2: otherFiles } = new MessageChannel();
    const lock = new Int32Array(new SharedArrayBuffer(4));
    this.#worker = new Worker(program, {
      name: this.#name,
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: limits,
    });
    this.line = new PortLine(port, listener?.receive ?? (() => undefined));
    serveFiles(filesPort, lock, files);
    this.ended = new Promise((resolve) => {
      this.#worker.on('error', (error) => this.#setReason(reasonOf(error)));
      this.#worker.once('exit', (code) => {
        this.#setReason(new ThreadEnded(`its thread exited with code ${code}`));
        this.#stopWatch();
        port.close();
        filesPort.close();
        this.line.close(this.#reason!);
        resolve(this.#reason!);
      });
    });
    this.loaded = this.#load(port, loadMs).finally(() => {
      filesPort.close();
      port.on('message', this.#accept);
      // Without `unref`, the port would keep the process alive.
      port.unref();
      this.#worker.unref();
    });
    this.loaded.catch(() => {});
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) this.#follow(stream);
    const start: Omit<ThreadStart, 'port' | 'files'> = {
      lock,
      beat: this.#beat,
      entry,
      guest: guest.href,
      loadMs,
      serves: listener !== null,
      isOffline: refusesConnections(),
    };
    this.#worker.postMessage({ ...start, port: otherPort, files: otherFiles }, [otherPort, otherFiles]);
  }

  #look(): void {
    if (this.#watch || this.#reason) return;
    let seen = Atomics.load(this.#beat, 0);
    let lookedAt = performance.now();
    let heldMs = 0;
    this.#watch = setInterval(() => {
      const now = performance.now();
      const passed = now - lookedAt;
      lookedAt = now;
      const beat = Atomics.load(this.#beat, 0);
      if (this.line.pending === 0) return this.#stopWatch();
      // A blocked event loop of this thread delays the check, so the check is ignored.
      if (passed > 3 * LOOK_MS) return;
      heldMs = beat === seen ? heldMs + passed : 0;
      seen = beat;
      if (heldMs < HELD_MS) return;
      this.#stopWatch();
      void this.#endHeld(heldMs);
    }, LOOK_MS);
    this.#watch.unref();
  }

  #stopWatch(): void {
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
  }

  async #endHeld(heldMs: number): Promise<void> {
    const reason = `it blocked its thread for ${Math.round(heldMs)} ms: the thread was terminated`;
    await endAtPlace(this.#name, this.#files, (place) =>
      this.end(new ThreadEnded(reason, place && this.#written(place))),
    );
  }

  /** The place in the source, as in `/app/plugins/audit.ts:12:7`. */
  #written(place: SourcePlace): string {
    const source = Buffer.from(this.#sources.read(place.file)).toString('utf8');
    return textOf(placeInSource(place, source));
  }

  /** Ends the thread at once. @param reason error for pending requests. */
  async end(reason: Error = new ThreadEnded('its thread was ended')): Promise<void> {
    this.#setReason(reason);
    await this.#worker.terminate();
  }

  /** Ends the thread once the module has released its resources. */
  async close(): Promise<void> {
    const released = this.line.at(0).ask(CLOSE, null);
    this.watch();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS).unref();
    });
    await Promise.race([released.catch(() => {}), late]);
    clearTimeout(timer);
    await this.end();
  }

  #setReason(reason: Error): void {
    this.#reason ??= reason;
  }

  readonly #accept = (message: unknown): void => {
    const owed = this.line.pending;
    if (!this.#reason) this.line.accept(message);
    const isAnswer = this.line.pending < owed;
    if (this.#rate.add(performance.now(), isAnswer) || this.#reason) return;
    void this.end(
      new ThreadEnded(`it sent ${FLOOD} messages within a second, in addition to those of answered requests`),
    );
  };

  #load(port: import('node:worker_threads').MessagePort, loadMs: number): Promise<ThreadLoaded> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const late = new ThreadEnded(UNFINISHED);
        reject(late);
        void this.end(late);
      }, loadMs + BOOT_MS);
      const settle = (): void => clearTimeout(timer);
      port.once('message', (message: { readonly loaded?: ThreadLoaded; readonly failed?: object }) => {
        settle();
        if (message.loaded) {
          this.#files = message.loaded.files;
          resolve(message.loaded);
        } else reject(loadFailure(message.failed));
      });
      void this.ended.then((reason) => {
        settle();
        reject(reason);
      });
    });
  }

  /** Streams without a listener are read as well, because their data would otherwise be buffered. */
  #follow(stream: Readable): void {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      if (!this.#listener) return;
      const lines = (rest + text).slice(0, 16 * 1024).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#listener.output(line);
    });
    stream.on('error', () => {});
  }
}

function reasonOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadEnded('its thread ran out of memory');
  return new ThreadEnded(`its thread failed: ${message}`);
}

/** Creates the same error that the loader creates for a module that it imports itself. */
function loadFailure(failed: unknown): Error {
  const error = receiveError(failed);
  const { source } = (isObject(failed) ? failed : {}) as {
    readonly source?: {
      readonly reason: string;
      readonly file: string;
      readonly position?: Position;
      readonly hint?: string;
    };
  };
  if (!source) return error;
  return new PositionedError('PLUGIN_LOAD', '', source.reason, {
    file: source.file,
    position: source.position,
    hint: source.hint,
    cause: error,
  });
}
