/**
 * Whether a valid JSON object has a duplicate name, since other parsers could read a different value. Nested objects
 * are not checked.
 */
export function hasTwins(text: string): boolean {
  const names: string[] = [];
  let more: Set<string> | null = null;
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      start = at;
      at = endOfString(text, at);
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--;
    } else if (code === COLON && depth === 1) {
      const written = text.slice(start, text.lastIndexOf('"', at) + 1);
      const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
      if (more?.has(name) ?? names.includes(name)) return true;
      if (more) more.add(name);
      else if (names.push(name) === FEW) more = new Set(names);
    }
  }
  return false;
}

/** Number of names up to which searching a list is faster than building a set. */
const FEW = 16;

/** Index of a string's closing quote. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
}

const QUOTE = 34;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
