import type { Kind } from './kinds.ts';
import type { Placeholders } from './placeholders.ts';

/** Marks before and after the matches of a pattern: noncharacters, which do not occur in texts. */
export const OPEN = '\uFDD0';
export const CLOSE = '\uFDD1';

/** A user-defined pattern, as a function that puts its matches between marks. */
export interface Marking {
  readonly name: string;
  /** @throws PatternLimit if the text is too long. */
  readonly mark: (text: string) => string;
}

/** Replaces personal data in texts. */
export class Redactor {
  readonly #kinds: readonly Kind[];
  readonly #markings: readonly Marking[];

  constructor(kinds: readonly Kind[], markings: readonly Marking[]) {
    this.#kinds = kinds;
    this.#markings = markings;
  }

  /** @throws PatternLimit if the text is too long for a user-defined pattern. */
  redact(text: string, placeholders: Placeholders): string {
    let redacted = text;
    for (const { name, mark } of this.#markings) redacted = betweenPlaceholders(redacted, name, mark, placeholders);
    for (const { name, pattern, accepts } of this.#kinds) {
      redacted = redacted.replaceAll(pattern, (candidate) => {
        const length = accepts ? accepts(candidate) : candidate.length;
        return length === 0 ? candidate : placeholders.of(name, candidate.slice(0, length)) + candidate.slice(length);
      });
    }
    return redacted;
  }
}

/** Replaces the matches of a user-defined pattern, except in placeholders of the patterns before it. */
function betweenPlaceholders(
  text: string,
  name: string,
  mark: (text: string) => string,
  placeholders: Placeholders,
): string {
  const pieces = text.replace(/[\uFDD0\uFDD1]/g, '\uFFFD').split(/(\[[A-Z][A-Z0-9_]*_\d+\])/);
  const replaced = (piece: string) =>
    mark(piece).replaceAll(/\uFDD0([^\uFDD1]*)\uFDD1/g, (_match, value: string) =>
      value === '' ? '' : placeholders.of(name, value),
    );
  return pieces.map((piece, at) => (at % 2 === 1 ? piece : replaced(piece))).join('');
}

/** Strings that contain data in base64, such as images, rather than text. */
const isData = (text: string) => /^data:[^,]{0,200};base64,/.test(text);

/**
 * Replaces personal data in a body: in the strings of JSON, whose other bytes stay the same, in the fields of a form, and
 * in any other text. @returns the body itself if nothing was replaced.
 */
export function redactBody(
  body: Uint8Array,
  contentType: string,
  redact: (text: string) => string,
): Uint8Array | string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  const redacted = redactText(text, contentType, redact);
  return redacted === text ? body : redacted;
}

/** JSON is recognized first, because `curl -d` declares every body as a form. */
function redactText(text: string, contentType: string, redact: (text: string) => string): string {
  if (isJson(text)) return redactJson(text, redact);
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) return redact(text);
  const sent = [...new URLSearchParams(text)];
  const fields = sent.map(([name, value]): [string, string] => [redact(name), redact(value)]);
  const isChanged = fields.some(([name, value], at) => name !== sent[at]![0] || value !== sent[at]![1]);
  return isChanged ? new URLSearchParams(fields).toString() : text;
}

function redactJson(text: string, redact: (text: string) => string): string {
  let result = '';
  let from = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', from)) {
    const end = endOfLiteral(text, start);
    const written = text.slice(start, end);
    const value = JSON.parse(written) as string;
    const redacted = isData(value) ? value : redact(value);
    result += text.slice(from, start) + (redacted === value ? written : JSON.stringify(redacted));
    from = end;
  }
  return result + text.slice(from);
}

/** Position after a string literal of valid JSON. An expression would exhaust the stack for strings of some megabytes. */
function endOfLiteral(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
}

function isJson(text: string): boolean {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
