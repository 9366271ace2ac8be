import { Fields } from '../headers.ts';

/** What is no answer of HTTP/1.1. */
export class AnswerError extends Error {
  readonly code = 'HTTP1_ANSWER';
}

/** A body in chunks; any other length is a number of bytes. */
export const CHUNKED = -1;
/** A body that ends with its connection. */
export const UNTIL_CLOSE = -2;

/** Digits of a length that can be counted to. */
const MAX_LENGTH_DIGITS = 15;

/** Control characters, and halves of line ends. */
const isFaulty = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const isToken = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const isDigits = /^\d+$/;

const SPACE = 32;
const TAB = 9;
const CR = 13;

/** The head of one answer. */
export class AnswerHead {
  readonly status: number;
  /** Names and values in turn, without the headers of the connection. */
  readonly list: string[];
  /** Bytes of the body, or `CHUNKED`, or `UNTIL_CLOSE`. An answer to HEAD has none, whatever this says. */
  readonly length: number;
  /** The connection carries no answer after this one. */
  readonly isLast: boolean;
  /** The value of `Keep-Alive`; null for none. */
  readonly keepAlive: string | null;
  readonly allowsTrailers: boolean;

  /**
   * @param text the status line and the headers, each with its line end.
   * @throws AnswerError where HTTP/1.1 does not allow it; lengths must be beyond doubt.
   */
  constructor(text: string) {
    if (isFaulty.test(text)) throw new AnswerError('control characters in the headers');
    this.status = statusOf(text);
    const isOld = text.charCodeAt(7) === 48;
    const fields = readFields(text, text.indexOf('\r\n') + 2);
    const { connection, codings } = fields;
    this.list = fields.list;
    this.keepAlive = fields.keepAlive;
    this.isLast = connection === null ? isOld : closes(connection, isOld);
    this.allowsTrailers = codings !== null;
    this.length = lengthOf(fields, isOld);
  }
}

/** Reads header lines from a place of a text without faulty characters. @throws AnswerError */
export function readFields(text: string, from: number): Fields {
  const fields = new Fields();
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    const name = colon < 0 || colon > end ? '' : text.substring(at, colon);
    if (!isToken.test(name)) throw new AnswerError('a header line without a proper name');
    let first = colon + 1;
    let last = end;
    while (first < last && isBlank(text.charCodeAt(first))) first += 1;
    while (last > first && isBlank(text.charCodeAt(last - 1))) last -= 1;
    fields.add(name, text.substring(first, last));
    at = end + 2;
  }
  fields.settle();
  return fields;
}

/** Reads the lines behind a body in chunks. @throws AnswerError */
export function readTrailerFields(text: string): string[] {
  if (isFaulty.test(text)) throw new AnswerError('control characters in the trailers');
  return readFields(text, 0).list;
}

/**
 * True for the beginning of what is no answer, before the end of its head is there.
 * @param start its first bytes. @param recent those that have come last, with the CR before them.
 */
export function isHopeless(start: string, recent: string): boolean {
  return !'HTTP/1.'.startsWith(start) || isFaulty.test(recent.endsWith('\r') ? recent.slice(0, -1) : recent);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function statusOf(text: string): number {
  const minor = text.charCodeAt(7);
  const after = text.charCodeAt(12);
  const status = text.substring(9, 12);
  const isProper =
    text.startsWith('HTTP/1.') &&
    (minor === 48 || minor === 49) &&
    text.charCodeAt(8) === SPACE &&
    (after === SPACE || after === CR) &&
    isDigits.test(status);
  if (!isProper) throw new AnswerError('not HTTP/1.1');
  return Number(status);
}

function closes(connection: string, isOld: boolean): boolean {
  if (connection === 'keep-alive') return false;
  const tokens = connection.split(',').map((token) => token.trim().toLowerCase());
  return tokens.includes('close') || (isOld && !tokens.includes('keep-alive'));
}

function lengthOf({ codings, lengths, length }: Fields, isOld: boolean): number {
  if (codings !== null) {
    if (codings.toLowerCase() !== 'chunked') throw new AnswerError('unknown Transfer-Encoding');
    if (isOld) throw new AnswerError('Transfer-Encoding in an answer of HTTP/1.0');
    if (lengths > 0) throw new AnswerError('Transfer-Encoding beside Content-Length');
    return CHUNKED;
  }
  if (lengths === 0) return UNTIL_CLOSE;
  if (lengths > 1) throw new AnswerError('more than one Content-Length');
  if (!isDigits.test(length)) throw new AnswerError('Content-Length is not a number');
  if (length.length > MAX_LENGTH_DIGITS) throw new AnswerError('Content-Length too large');
  return Number(length);
}
