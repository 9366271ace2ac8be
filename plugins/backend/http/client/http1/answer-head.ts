import { endOfName, endOfValue } from '../characters.ts';
import { malformedAnswer } from '../errors.ts';
import { Fields, MAX_LENGTH_DIGITS } from '../headers.ts';

/** Length of a chunked body. Other lengths are numbers of bytes. */
export const CHUNKED = -1;
/** Length of a body that ends when the connection closes. */
export const UNTIL_CLOSE = -2;

const HTTP_1 = 'HTTP/1.';
const SPACE = 32;
const TAB = 9;
const CR = 13;
const LF = 10;
const COLON = 58;
const ZERO = 48;
const ONE = 49;

/** Head of a response. */
export class AnswerHead {
  readonly status: number;
  /** Alternating names and values, without the headers of the connection. */
  readonly list: string[];
  /** Length of the body in bytes, `CHUNKED` or `UNTIL_CLOSE`. Responses to HEAD have no body, regardless of this value. */
  readonly length: number;
  /** Whether the connection cannot be reused after this response. */
  readonly isLast: boolean;
  /** Value of `Keep-Alive`; null if it is missing. */
  readonly keepAlive: string | null;
  readonly allowsTrailers: boolean;

  /**
   * Parses a head.
   * @param bytes the status line and headers are at `from` to `to`, each with its line end.
   * @throws TransportError if the head is invalid or the length is ambiguous.
   */
  constructor(bytes: Buffer, from: number, to: number) {
    const text = bytes.toString('latin1', from, to);
    this.status = statusOf(text);
    const isOld = text.charCodeAt(HTTP_1.length) === ZERO;
    // The reason phrase of the status line is ignored.
    const reason = endOfValue(bytes, from + STATUS_END);
    const fields = readFields(bytes, afterLineEnd(bytes, reason), to, text, from);
    const { connection, codings } = fields;
    this.list = fields.list;
    this.keepAlive = fields.keepAlive;
    this.isLast = connection === null ? isOld : closes(connection, isOld);
    this.allowsTrailers = codings !== null;
    this.length = lengthOf(fields, isOld);
  }
}

/** End of the status code in the first line. */
const STATUS_END = 12;

/**
 * Parses header lines.
 * @param text the same bytes as Latin-1.
 * @param start offset of the text in the bytes.
 * @throws TransportError
 */
function readFields(bytes: Buffer, from: number, to: number, text: string, start: number): Fields {
  const fields = new Fields();
  for (let at = from; at < to; ) {
    const colon = endOfName(bytes, at);
    if (colon === at || bytes[colon] !== COLON) throw malformedAnswer('a header line without a valid name');
    let first = colon + 1;
    while (isBlank(bytes[first]!)) first += 1;
    const end = endOfValue(bytes, first);
    let last = end;
    while (last > first && isBlank(bytes[last - 1]!)) last -= 1;
    fields.add(text.substring(at - start, colon - start), text.substring(first - start, last - start));
    at = afterLineEnd(bytes, end);
  }
  fields.settle();
  return fields;
}

function afterLineEnd(bytes: Buffer, at: number): number {
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw malformedAnswer('control characters in the headers');
  return at + 2;
}

/** Parses the trailers of a chunked body, each with its line end. @throws TransportError */
export function readTrailerFields(text: string): string[] {
  const bytes = Buffer.from(text, 'latin1');
  return readFields(bytes, 0, bytes.length, text, 0).list;
}

/** Whether the first bytes of a response cannot be the start of a valid one. */
export function isHopeless(bytes: Buffer): boolean {
  if (!HTTP_1.startsWith(bytes.toString('latin1', 0, HTTP_1.length))) return true;
  const end = bytes.length;
  for (let at = endOfValue(bytes, 0); at < end; at = endOfValue(bytes, at + 2)) {
    if (bytes[at] !== CR || (at + 1 < end && bytes[at + 1] !== LF)) return true;
  }
  return false;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function statusOf(text: string): number {
  const minor = text.charCodeAt(HTTP_1.length);
  const after = text.charCodeAt(STATUS_END);
  const status = digit(text, 9) * 100 + digit(text, 10) * 10 + digit(text, 11);
  const isProper =
    text.startsWith(HTTP_1) &&
    (minor === ZERO || minor === ONE) &&
    text.charCodeAt(8) === SPACE &&
    (after === SPACE || after === CR) &&
    Number.isInteger(status);
  if (!isProper) throw malformedAnswer('not HTTP/1.1');
  return status;
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function closes(connection: string, isOld: boolean): boolean {
  if (connection === 'keep-alive') return false;
  const tokens = connection.split(',').map((token) => token.trim().toLowerCase());
  return tokens.includes('close') || (isOld && !tokens.includes('keep-alive'));
}

function lengthOf({ codings, lengths, length }: Fields, isOld: boolean): number {
  if (codings !== null) {
    if (codings.toLowerCase() !== 'chunked') throw malformedAnswer('unknown Transfer-Encoding');
    if (isOld) throw malformedAnswer('Transfer-Encoding in an HTTP/1.0 response');
    if (lengths > 0) throw malformedAnswer('both Transfer-Encoding and Content-Length');
    return CHUNKED;
  }
  if (lengths === 0) return UNTIL_CLOSE;
  if (lengths > 1) throw malformedAnswer('more than one Content-Length');
  if (!/^\d+$/.test(length)) throw malformedAnswer('Content-Length is not a number');
  if (length.length > MAX_LENGTH_DIGITS) throw malformedAnswer('Content-Length too large');
  return Number(length);
}
