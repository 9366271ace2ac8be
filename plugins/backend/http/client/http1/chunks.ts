import { malformedAnswer } from '../errors.ts';
import { readTrailerFields } from './answer-head.ts';

const SIZE = 0;
const EXTENSION = 1;
const SIZE_END = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILERS = 6;

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const SEMICOLON = 59;
const DELETE = 127;

/** Maximum number of hexadecimal digits of a chunk size. */
const MAX_DIGITS = 12;
/** Maximum total size of all chunk extensions, in bytes. */
const MAX_EXTENSION_BYTES = 16 * 1024;
/** Maximum size of the trailers, in bytes. */
const MAX_TRAILER_BYTES = 64 * 1024;

/** Incremental parser of a chunked body. */
export class ChunkedBody {
  /** End of the bytes consumed by the last read. */
  at = 0;
  isOver = false;
  /** Trailers as alternating names and values. */
  trailers: string[] = [];
  #state = SIZE;
  /** Bytes left in the current chunk. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerText = '';

  /**
   * Parses more bytes, at most up to the end of the body.
   * @param from inclusive.
   * @param to exclusive.
   * @returns a copy of the data in the bytes; empty without one.
   * @throws TransportError
   */
  read(bytes: Buffer, from: number, to: number): Buffer {
    let data: Buffer | null = null;
    let used = 0;
    let at = from;
    while (at < to && !this.isOver) {
      if (this.#state === DATA) {
        const size = Math.min(this.#left, to - at);
        data ??= Buffer.allocUnsafe(to - at);
        bytes.copy(data, used, at, at + size);
        used += size;
        at += size;
        this.#left -= size;
        if (this.#left === 0) this.#state = DATA_CR;
      } else if (this.#state === TRAILERS) {
        at = this.#readTrailers(bytes, at, to);
      } else {
        this.#step(bytes[at]!);
        at += 1;
      }
    }
    this.at = at;
    return data === null ? nothing : data.subarray(0, used);
  }

  /** Processes one byte of the framing. */
  #step(byte: number): void {
    switch (this.#state) {
      case SIZE:
        return this.#readSize(byte);
      case EXTENSION:
        if (byte === CR) this.#state = SIZE_END;
        else this.#extend(byte);
        return;
      case SIZE_END:
        expect(byte, LF);
        this.#digits = 0;
        this.#state = this.#left === 0 ? TRAILERS : DATA;
        return;
      case DATA_CR:
        expect(byte, CR);
        this.#state = DATA_LF;
        return;
      default:
        expect(byte, LF);
        this.#state = SIZE;
    }
  }

  #readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      this.#digits += 1;
      if (this.#digits > MAX_DIGITS) throw malformedAnswer('a chunk too large');
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0 || (byte !== CR && byte !== SEMICOLON)) throw malformedAnswer('a chunk without a size');
    this.#state = byte === CR ? SIZE_END : EXTENSION;
  }

  #extend(byte: number): void {
    this.#extensionBytes += 1;
    if (this.#extensionBytes > MAX_EXTENSION_BYTES) throw malformedAnswer('chunk extensions too large');
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw malformedAnswer('control characters between chunks');
  }

  /** @returns the index after the empty line that ends the trailers, or `to`. */
  #readTrailers(bytes: Buffer, from: number, to: number): number {
    const before = this.#trailerText;
    const text = before + bytes.toString('latin1', from, Math.min(to, from + MAX_TRAILER_BYTES));
    const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n', Math.max(0, before.length - 3));
    if (end < 0) {
      if (text.length > MAX_TRAILER_BYTES) throw malformedAnswer('trailers too large');
      this.#trailerText = text;
      return Math.min(to, from + MAX_TRAILER_BYTES);
    }
    this.isOver = true;
    if (end === 0) return from + 2 - before.length;
    this.trailers = readTrailerFields(text.slice(0, end + 2));
    return from + end + 4 - before.length;
  }
}

const nothing = Buffer.alloc(0);

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw malformedAnswer('a chunk without a line break at its end');
}

/** @returns a negative number if the byte is not a hexadecimal digit. */
function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
