import { extname } from 'node:path';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const STAR = 0x2a;
const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

const PEM_EXTENSIONS = new Set(['.pem', '.crt', '.cer', '.key']);

/**
 * True when a file seems to be still in the process of being written: it is empty, its JSON is truncated, or a PEM
 * block has no end. A malformed file counts as finished: its error can be reported at once.
 * @param file path, for its extension; without one, a text that begins like JSON is treated as JSON.
 */
export function looksUnfinished(file: string, bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true;
  const extension = extname(file).toLowerCase();
  if (extension === '' || extension === '.json' || extension === '.jsonc') {
    return endsInside(bytes, extension !== '');
  }
  return PEM_EXTENSIONS.has(extension) && lacksPemEnd(bytes);
}

/** @param strict whether a text that does not begin like an object or a list is also checked as JSON. */
function endsInside(bytes: Uint8Array, strict: boolean): boolean {
  const open: number[] = [];
  let begun = false;
  for (let at = startOf(bytes); at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte <= 0x20) continue;
    if (!begun) {
      begun = true;
      if (!strict && byte !== OPEN_BRACE && byte !== OPEN_BRACKET) return false;
    }
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (end === BROKEN) return false;
      if (end >= bytes.length) return true;
      at = end;
    } else if (byte === SLASH) {
      const end = endOfComment(bytes, at);
      if (end === BROKEN) return false;
      if (end >= bytes.length && bytes[at + 1] !== SLASH) return true;
      at = end;
    } else if (byte === OPEN_BRACE) open.push(CLOSE_BRACE);
    else if (byte === OPEN_BRACKET) open.push(CLOSE_BRACKET);
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && open.pop() !== byte) return false;
  }
  return strict ? open.length > 0 || !begun : open.length > 0;
}

/** Offset after a byte order mark. */
function startOf(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

const BROKEN = -1;

/** @returns the offset of the closing quote, at least the length if it is missing; BROKEN at a line break. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === LINE_FEED) return BROKEN;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
}

/** @returns the offset of the comment's last byte, at least the length if it is unclosed; BROKEN if it is not a comment. */
function endOfComment(bytes: Uint8Array, start: number): number {
  const mark = bytes[start + 1];
  if (mark === undefined) return bytes.length;
  if (mark === SLASH) {
    const end = bytes.indexOf(LINE_FEED, start);
    return end < 0 ? bytes.length : end;
  }
  if (mark !== STAR) return BROKEN;
  for (let at = start + 2; at + 1 < bytes.length; at++) {
    if (bytes[at] === STAR && bytes[at + 1] === SLASH) return at + 1;
  }
  return bytes.length;
}

function lacksPemEnd(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = text.lastIndexOf('-----BEGIN ');
  return begin >= 0 && text.indexOf('-----END ', begin) < 0;
}
