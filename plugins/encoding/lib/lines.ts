import { framingError, MAX_MESSAGE_BYTES } from './framing.ts';
import { GrowingBytes } from './growing-bytes.ts';

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf] as const;

/** Line format of a stream, and the consumer of its lines. */
export interface LineFormat {
  /** Format name for errors. */
  readonly name: string;
  /** Whether a CR also ends a line, alone or before LF; otherwise only LF ends a line. */
  readonly carriageReturns: boolean;
  /** Processes one line, without its line ending. @returns true when the line stays in memory until its message is complete. */
  line(bytes: Uint8Array): boolean;
}

/** Splits bytes into lines. A UTF-8 byte order mark at the start is dropped. */
export class LineCutter {
  #format: LineFormat;
  /** Start of an incomplete line. */
  #begun = new GrowingBytes();
  /** Bytes of complete lines that are kept until their message is complete. */
  #usedBytes = 0;
  /** Bytes received before the current chunk. */
  #seenBytes = 0;
  /** Bytes of a byte order mark matched so far; -1 once none is possible. */
  #marked = 0;
  #afterReturn = false;

  constructor(format: LineFormat) {
    this.#format = format;
  }

  /** Resets the limit when a message is complete. */
  restart(): void {
    this.#usedBytes = 0;
  }

  /** @throws BackendError when a message exceeds the limit. */
  write(chunk: Uint8Array): void {
    let start = this.#marked < 0 ? 0 : this.#skipMark(chunk);
    const { carriageReturns } = this.#format;
    let nextReturn = carriageReturns ? find(chunk, CR, start) : chunk.length;
    let nextFeed = find(chunk, LF, start);
    while (start < chunk.length) {
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (chunk[start] === LF) {
          start++;
          if (nextFeed < start) nextFeed = find(chunk, LF, start);
          continue;
        }
      }
      const end = Math.min(nextReturn, nextFeed);
      if (end === chunk.length) break;
      this.#complete(chunk.subarray(start, end), start);
      start = end + 1;
      if (end === nextReturn) {
        this.#afterReturn = true;
        nextReturn = find(chunk, CR, start);
      } else {
        nextFeed = find(chunk, LF, start);
      }
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start), start);
    this.#seenBytes += chunk.length;
  }

  /** Emits a last line without a line ending. */
  end(): void {
    if (this.#marked > 0) this.#keep(Buffer.from(BOM.slice(0, this.#marked)), 0);
    if (this.#begun.length > 0) this.#complete(new Uint8Array(0), 0);
  }

  #complete(rest: Uint8Array, at: number): void {
    this.#check(rest.length, at);
    let whole = rest;
    if (this.#begun.length > 0) {
      this.#begun.append(rest);
      whole = this.#begun.take();
    }
    if (this.#format.line(whole)) this.#usedBytes += whole.length + 1;
  }

  #keep(bytes: Uint8Array, at: number): void {
    this.#check(bytes.length, at);
    this.#begun.append(bytes);
  }

  #check(more: number, at: number): void {
    const before = this.#usedBytes + this.#begun.length;
    if (before + more <= MAX_MESSAGE_BYTES) return;
    const offset = this.#seenBytes + at + (MAX_MESSAGE_BYTES - before);
    throw framingError(this.#format.name, `message larger than ${MAX_MESSAGE_BYTES} bytes`, offset);
  }

  /** @returns the position in the chunk at which lines start. */
  #skipMark(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && this.#marked < BOM.length && chunk[at] === BOM[this.#marked]) {
      at++;
      this.#marked++;
    }
    if (at === chunk.length && this.#marked < BOM.length) return at;
    // The beginning of an incomplete byte order mark is text.
    if (this.#marked < BOM.length && this.#marked > at) {
      this.#keep(Buffer.from(BOM.slice(0, this.#marked - at)), 0);
    }
    const isWhole = this.#marked === BOM.length;
    this.#marked = -1;
    return isWhole ? at : 0;
  }
}

/** Next position of a byte; the length if it does not occur. */
function find(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}
