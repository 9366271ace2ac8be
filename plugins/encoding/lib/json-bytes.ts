/** Maximum nesting depth. */
const MAX_DEPTH = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 for bytes that need no escape in a string, including those of multi-byte characters. */
const plain = table(Array.from({ length: 256 - 32 }, (_, index) => index + 32));
plain[QUOTE] = 0;
plain[BACKSLASH] = 0;

/** 1 for bytes that may follow a backslash; `u` is handled separately. */
const escapes = table(Buffer.from('"\\/bfnrt'));
const hex = table(Buffer.from('0123456789abcdefABCDEF'));
const blank = table(Buffer.from(' \t\r\n'));

/** Kinds of the enclosing containers; shared by all checks, which never overlap. */
const outer = new Uint8Array(MAX_DEPTH);

/**
 * Validates that the bytes from `start` to `end`, without surrounding white space, are one JSON object that
 * `JSON.parse` would accept, at a third of its cost or less. Nothing is decoded; the caller must check the UTF-8.
 *
 * Bytes beyond `end` are never read, because one such read makes all later ones several times slower: the last byte is
 * known to be `}`, which ends everything but a string, and strings are not scanned beyond the last quote.
 *
 * @throws Error when the object is nested deeper than 10,000 levels.
 */
export function isJsonObject(bytes: Uint8Array, start: number, end: number): boolean {
  const text = jsonObject(bytes, start, end);
  return text !== null && afterContainer(text, start) === end;
}

/** Bytes that start and end like an object, without surrounding white space. */
export interface JsonText {
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Position of the last quote: strings are not scanned beyond it. */
  readonly lastQuote: number;
}

/** Locates the end and the last quote of bytes that may be a JSON object. @returns null if they cannot be one. */
export function jsonObject(bytes: Uint8Array, start: number, end: number): JsonText | null {
  if (end - start < 2 || bytes[start] !== OPEN_OBJECT || bytes[end - 1] !== CLOSE_OBJECT) return null;
  let lastQuote = end - 1;
  while (lastQuote > start && bytes[lastQuote] !== QUOTE) lastQuote--;
  return { bytes, end, lastQuote };
}

/** Position of the first byte that is not white space. Such a byte must exist. */
export function afterBlank(bytes: Uint8Array, start: number): number {
  let at = start;
  while (blank[bytes[at]!] === 1) at++;
  return at;
}

/**
 * Position after a value, or -1 when it is invalid; `end` only after the object itself.
 * @param start of the value, without white space.
 */
export function afterValue(text: JsonText, start: number): number {
  const byte = text.bytes[start]!;
  if (byte === QUOTE) return afterString(text.bytes, start + 1, text.lastQuote);
  if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return afterContainer(text, start);
  return byte <= 0x39 ? afterNumber(text.bytes, start) : afterWord(text.bytes, start);
}

/** @param start of an object or an array. @throws Error under the same condition as `isJsonObject`. */
function afterContainer({ bytes, end, lastQuote }: JsonText, start: number): number {
  let at = start;
  let depth = 0;
  let inObject = 0;
  while (true) {
    let byte = bytes[at]!;
    while (blank[byte] === 1) byte = bytes[++at]!;
    if (byte === QUOTE) {
      at = afterString(bytes, at + 1, lastQuote);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === MAX_DEPTH) throw new Error(`JSON nested deeper than ${MAX_DEPTH} levels`);
      outer[depth++] = inObject;
      inObject = byte === OPEN_OBJECT ? 1 : 0;
      byte = bytes[++at]!;
      while (blank[byte] === 1) byte = bytes[++at]!;
      if (byte !== (inObject === 1 ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (inObject === 1) at = afterKey(bytes, at, lastQuote);
        if (at < 0) return -1;
        continue;
      }
      at++;
      inObject = outer[--depth]!;
      if (depth === 0) return at;
      if (at === end) return -1;
    } else {
      at = byte <= 0x39 ? afterNumber(bytes, at) : afterWord(bytes, at);
    }
    if (at < 0) return -1;
    while (true) {
      byte = bytes[at]!;
      while (blank[byte] === 1) byte = bytes[++at]!;
      at++;
      if (byte === COMMA) break;
      if (byte !== (inObject === 1 ? CLOSE_OBJECT : CLOSE_ARRAY)) return -1;
      inObject = outer[--depth]!;
      if (depth === 0) return at;
      if (at === end) return -1;
    }
    if (inObject === 1) {
      at = afterKey(bytes, at, lastQuote);
      if (at < 0) return -1;
    }
  }
}

/** Each of these functions takes the position of a token and returns the position after it, or -1 if the token is invalid. */
function afterKey(bytes: Uint8Array, start: number, lastQuote: number): number {
  let at = start;
  while (blank[bytes[at]!] === 1) at++;
  if (bytes[at] !== QUOTE) return -1;
  at = afterString(bytes, at + 1, lastQuote);
  if (at < 0) return -1;
  while (blank[bytes[at]!] === 1) at++;
  return bytes[at] === COLON ? at + 1 : -1;
}

/** @param start position after the opening quote. */
export function afterString(bytes: Uint8Array, start: number, lastQuote: number): number {
  let at = start;
  while (at <= lastQuote) {
    let byte = bytes[at]!;
    while (plain[byte] === 1) byte = bytes[++at]!;
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) return -1;
    byte = bytes[++at]!;
    at++;
    if (escapes[byte] === 1) continue;
    if (byte !== 0x75) return -1;
    for (const stop = at + 4; at < stop; at++) if (hex[bytes[at]!] !== 1) return -1;
  }
  return -1;
}

function afterNumber(bytes: Uint8Array, start: number): number {
  let at = start;
  let byte = bytes[at]!;
  if (byte === 0x2d) byte = bytes[++at]!;
  if (byte === 0x30) byte = bytes[++at]!;
  else if (byte < 0x31 || byte > 0x39) return -1;
  else while (byte >= 0x30 && byte <= 0x39) byte = bytes[++at]!;
  if (byte === 0x2e) {
    byte = bytes[++at]!;
    if (byte < 0x30 || byte > 0x39) return -1;
    while (byte >= 0x30 && byte <= 0x39) byte = bytes[++at]!;
  }
  if (byte === 0x65 || byte === 0x45) {
    byte = bytes[++at]!;
    if (byte === 0x2b || byte === 0x2d) byte = bytes[++at]!;
    if (byte < 0x30 || byte > 0x39) return -1;
    while (byte >= 0x30 && byte <= 0x39) byte = bytes[++at]!;
  }
  return at;
}

/** Stops at the first byte that differs, so that it does not read beyond the end either. */
function afterWord(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65 ? at + 4 : -1;
    case 0x6e:
      return bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c ? at + 4 : -1;
    case 0x66:
      return bytes[at + 1] === 0x61 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x73 && bytes[at + 4] === 0x65
        ? at + 5
        : -1;
    default:
      return -1;
  }
}

function table(members: ArrayLike<number>): Uint8Array {
  const flags = new Uint8Array(256);
  for (let index = 0; index < members.length; index++) flags[members[index]!] = 1;
  return flags;
}
