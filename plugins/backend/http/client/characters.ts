/** Bit flags for the places in which a byte is allowed: header name, header value, path. */
const NAME = 1;
const VALUE = 2;
const PATH = 4;

const uses = new Uint8Array(256);
for (let code = 0x21; code <= 0xff; code += 1) if (code !== 0x7f) uses[code] = VALUE | PATH;
for (const code of [0x09, 0x20]) uses[code] = VALUE;
uses[0x7f] = PATH;
for (const letter of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
  uses[letter.charCodeAt(0)]! |= NAME;
}

/** @returns the first index from `at` on whose byte is not allowed in a name. */
export function endOfName(bytes: Uint8Array, at: number): number {
  let end = at;
  while ((uses[bytes[end]!]! & NAME) !== 0) end += 1;
  return end;
}

/** @returns the first index from `at` on whose byte is not allowed in a value. */
export function endOfValue(bytes: Uint8Array, at: number): number {
  let end = at;
  while ((uses[bytes[end]!]! & VALUE) !== 0) end += 1;
  return end;
}

/** Whether a text is valid as a header name or a method. */
export function isName(text: string): boolean {
  return text !== '' && consistsOf(text, NAME);
}

/** Whether a header value can be encoded as Latin-1 and contains no line end. */
export function isValue(text: string): boolean {
  return consistsOf(text, VALUE);
}

export function isPath(text: string): boolean {
  return text !== '' && consistsOf(text, PATH);
}

function consistsOf(text: string, use: number): boolean {
  for (let at = 0; at < text.length; at += 1) {
    // Characters beyond Latin-1 have no entry in the table, so they are invalid.
    if ((uses[text.charCodeAt(at)]! & use) === 0) return false;
  }
  return true;
}
