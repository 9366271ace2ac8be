import { framingError, MAX_MESSAGE_BYTES } from './framing.ts';
import { GrowingBytes } from './growing-bytes.ts';

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf] as const;

/** What the lines of a stream look like and who takes them. */
export interface LineFormat {
  /** Named in errors. */
  readonly name: string;
  /** A CR ends a line too, alone or before LF. Otherwise only LF does. */
  readonly carriageReturns: boolean;
  /** Takes one line, without its end. @returns true when it stays in memory until its message is complete. */
  line(bytes: Uint8Array): boolean;
}

/** Cuts bytes into lines. A UTF-8 byte order mark at the start is dropped. */
export class LineCutter {
  #format: LineFormat;
  /** The beginning of a line whose end has not come. */
  #begun = new GrowingBytes();
  /** Bytes of complete lines that wait for the rest of their message. */
  #usedBytes = 0;
  /** Bytes seen before the current chunk. */
  #seenBytes = 0;
  /** Bytes of a byte order mark found so far; -1 once it cannot come any more. */
  #marked = 0;
  #afterReturn = false;

  constructor(format: LineFormat) {
    this.#format = format;
  }

  /** A message is complete: the next one has the whole limit again. */
  restart(): void {
    this.#usedBytes = 0;
  }

  /** @throws BackendError when a message is over the limit. */
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

  /** Hands over a last line that has no end. */
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

  /** @returns where the lines start in the chunk. */
  #skipMark(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && this.#marked < BOM.length && chunk[at] === BOM[this.#marked]) {
      at++;
      this.#marked++;
    }
    if (at === chunk.length && this.#marked < BOM.length) return at;
    // A part of a mark that was none is text.
    if (this.#marked < BOM.length && this.#marked > at) {
      this.#keep(Buffer.from(BOM.slice(0, this.#marked - at)), 0);
    }
    const isWhole = this.#marked === BOM.length;
    this.#marked = -1;
    return isWhole ? at : 0;
  }
}

/** Where a byte next stands; the length when it does not. */
function find(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}
