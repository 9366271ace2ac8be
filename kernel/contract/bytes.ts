import { Readable } from 'node:stream';
import { brand } from '../values/brand.ts';
import { CallError } from './errors.ts';
import { Pieces } from './pieces.ts';
import { type ByteTap, Taps } from './taps.ts';

/** Consumer of a stream. `write` returns false to pause the stream until `ByteStream.resume` is called. */
export interface ByteSink {
  write(chunk: Uint8Array): boolean;
  end(): void;
  fail(error: Error): void;
}

/** Callbacks that tell the producer of a stream about its reader. */
export interface ByteSource {
  /** Called when the reader can accept more bytes. */
  resume?(): void;
  /** Called at most once, when the reader needs no more bytes; never after the end of the stream. */
  cancel?(reason: Error): void;
}

/** Number of buffered bytes at which the producer is asked to pause. */
const HIGH_WATER_BYTES = 64 * 1024;

/**
 * Bytes of a reply: one producer writes, one reader reads, with back-pressure. Cheaper than a Node.js stream; a
 * complete body is collected synchronously.
 */
export class ByteStream implements AsyncIterable<Uint8Array> {
  #source: ByteSource;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #sink: ByteSink | null = null;
  #taps: Taps | null = null;
  #full = false;
  #paused = false;
  #ended = false;
  #concluded = false;
  #error: Error | null = null;

  constructor(source: ByteSource = {}) {
    this.#source = source;
  }

  static from(readable: Readable): ByteStream {
    const stream = new ByteStream({ resume: () => readable.resume(), cancel: (reason) => readable.destroy(reason) });
    readable.on('data', (chunk: Uint8Array) => stream.write(chunk) || readable.pause());
    readable.once('end', () => stream.end());
    readable.once('error', (error) => stream.fail(error));
    readable.once(
      'close',
      () => readable.readableEnded || stream.fail(readable.errored ?? new Error('premature close')),
    );
    return stream;
  }

  /** Producer: adds bytes. @returns false if the producer should pause until `resume`. */
  write(chunk: Uint8Array): boolean {
    if (this.#ended || this.#error) return true;
    if (this.#sink && !this.#full) {
      this.#taps?.write(chunk);
      this.#full = !this.#sink.write(chunk);
    } else {
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
    }
    this.#paused = this.#sink ? this.#full : this.#waitingBytes >= HIGH_WATER_BYTES;
    return !this.#paused;
  }

  /** Producer: ends the stream. */
  end(): void {
    if (this.#ended || this.#error) return;
    this.#ended = true;
    if (this.#sink && this.#waiting.length === 0) this.#conclude(this.#sink);
  }

  /** Producer: aborts the stream with an error. */
  fail(error: Error): void {
    if (this.#ended || this.#error) return;
    this.#error = error;
    if (this.#sink) this.#conclude(this.#sink);
  }

  /** Reports the end to the sink, once. */
  #conclude(sink: ByteSink): void {
    if (this.#concluded) return;
    this.#concluded = true;
    this.#taps?.conclude(this.#error);
    if (this.#error) sink.fail(this.#error);
    else sink.end();
  }

  /** Observes every byte that has not been delivered to the reader yet. */
  tap(tap: ByteTap): void {
    this.#taps ??= new Taps();
    this.#taps.add(tap);
  }

  /** Reader: delivers all bytes, buffered and future, to a sink. A stream has one reader. */
  flow(sink: ByteSink): void {
    this.#sink = sink;
    this.#full = false;
    this.resume();
  }

  /** Reader: continues after a pause. */
  resume(): void {
    const sink = this.#sink;
    if (!sink) return;
    this.#full = false;
    while (this.#waiting.length > 0 && !this.#full) {
      const chunk = this.#waiting.shift()!;
      this.#waitingBytes -= chunk.length;
      this.#taps?.write(chunk);
      this.#full = !sink.write(chunk);
    }
    if (this.#full) return;
    if (this.#error || this.#ended) this.#conclude(sink);
    else if (this.#paused) {
      this.#paused = false;
      this.#source.resume?.();
    }
  }

  /** Reader: discards the rest. */
  cancel(reason: Error): void {
    if (!this.#concluded) this.#taps?.cancel(reason);
    if (this.#ended || this.#error) return;
    this.#error = reason;
    this.#concluded = true;
    this.#waiting.length = 0;
    this.#source.cancel?.(reason);
  }

  /** True once a reader was attached or the stream was canceled. */
  get isTaken(): boolean {
    return this.#sink !== null || this.#concluded;
  }

  /** True if all bytes have arrived and none has been delivered, so that `collect` returns synchronously. */
  get arrived(): boolean {
    return this.#ended && this.#sink === null;
  }

  /**
   * Reader: all bytes in one piece, synchronously if they have arrived.
   * @param limitBytes a longer body fails with `BODY_TOO_LARGE`.
   */
  collect(limitBytes: number): Uint8Array | Promise<Uint8Array> {
    if (this.arrived && this.#waitingBytes <= limitBytes) {
      if (this.#taps) this.#showArrived(this.#taps);
      return join(this.#waiting, this.#waitingBytes);
    }
    let pieces = new Pieces();
    return new Promise((resolve, reject) => {
      // The stream may be referenced for longer than its bytes are needed.
      const fail = (error: Error): void => {
        pieces = new Pieces();
        reject(error);
      };
      this.flow({
        write: (chunk) => {
          pieces.add(chunk);
          if (pieces.length <= limitBytes) return true;
          const error = new CallError('BODY_TOO_LARGE', `body larger than ${limitBytes} bytes`);
          this.cancel(error);
          fail(error);
          return false;
        },
        end: () => {
          resolve(pieces.join());
          pieces = new Pieces();
        },
        fail,
      });
    });
  }

  #showArrived(taps: Taps): void {
    for (const chunk of this.#waiting) taps.write(chunk);
    taps.conclude(null);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let done = false;
    let failure: Error | null = null;
    let wake: (() => void) | null = null;
    const wakeUp = () => {
      wake?.();
      wake = null;
    };
    this.flow({
      write: (chunk) => {
        chunks.push(chunk);
        wakeUp();
        return false;
      },
      end: () => {
        done = true;
        wakeUp();
      },
      fail: (error) => {
        failure = error;
        wakeUp();
      },
    });
    try {
      while (true) {
        if (chunks.length > 0) {
          yield chunks.shift()!;
          if (chunks.length === 0) this.resume();
        } else if (failure) {
          throw failure;
        } else if (done) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (!done) this.cancel(new CallError('CALL_CANCELLED', 'context canceled'));
    }
  }

  readable(): Readable {
    const readable = Readable.from(this, { objectMode: false });
    // A generator that is destroyed before its first step runs no code, not even `finally`, so the stream is canceled
    // here.
    readable.once('close', () => {
      if (!this.isTaken) this.cancel(new CallError('CALL_CANCELLED', 'context canceled'));
    });
    return readable;
  }
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
}

brand({ ByteStream });
