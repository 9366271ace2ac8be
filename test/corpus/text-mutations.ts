import { createScanner } from 'jsonc-parser';

/** A text with a syntax error, and the lines at which the error, or a related place, may be reported. */
export interface TextMutation {
  readonly name: string;
  readonly text: string;
  readonly file: string;
  readonly lines: ReadonlySet<number>;
}

interface Token {
  /** Kind of token, given by its first character. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** Line of the matching bracket. */
  partner: number;
}

/** Every mutation of a valid JSON text: each punctuation mark removed, keys duplicated, the end truncated. */
export function jsonTextMutations(text: string): TextMutation[] {
  const tokens = tokensOf(text);
  return [
    ...tokens.flatMap((token, index) => withoutMark(text, tokens, token, index)),
    ...tokens.flatMap((token, index) => keyTwice(text, tokens, token, index)),
    ...cuts(text, tokens),
  ];
}

function tokensOf(text: string): Token[] {
  const scanner = createScanner(text, true);
  const tokens: Token[] = [];
  const open: Token[] = [];
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const start = scanner.getTokenOffset();
    const line = text.slice(0, start).split('\n').length;
    const token: Token = { kind: text[start]!, start, end: start + scanner.getTokenLength(), line, partner: line };
    tokens.push(token);
    if (token.kind === '{' || token.kind === '[') open.push(token);
    if (token.kind !== '}' && token.kind !== ']') continue;
    const opener = open.pop()!;
    token.partner = opener.line;
    opener.partner = line;
  }
  return tokens;
}

/** Removes a bracket, comma, colon or quote. */
function withoutMark(text: string, tokens: readonly Token[], token: Token, index: number): TextMutation[] {
  const { kind, start, end, line, partner } = token;
  const isString = kind === '"';
  if (!/["[\]{},:]/.test(kind)) return [];
  const neighbours = [tokens[index - 1], tokens[index + 1], tokens[index + 2]].map((other) => other?.line ?? line);
  const lines = new Set([line, partner, ...neighbours]);
  const without = (at: number, what: string): TextMutation => ({
    name: `take ${what} away at ${place(text, at)}`,
    text: text.slice(0, at) + text.slice(at + 1),
    file: 'mutated.json',
    lines,
  });
  if (isString) return [without(start, 'the opening quote'), without(end - 1, 'the closing quote')];
  return [without(start, kind)];
}

/** Duplicates a key and its value directly after them. */
function keyTwice(text: string, tokens: readonly Token[], token: Token, index: number): TextMutation[] {
  if (tokens[index + 1]?.kind !== ':') return [];
  const copy = `${text.slice(token.start, token.end)}: null,`;
  return [
    {
      name: `write the key twice at ${place(text, token.start)}`,
      text: `${text.slice(0, token.start)}${copy}\n${text.slice(token.start)}`,
      file: 'mutated.json',
      lines: new Set([token.line + 1]),
    },
  ];
}

const CUTS = 40;

/** Truncates the text: the error is reported at its end, or at an unclosed bracket. */
function cuts(text: string, tokens: readonly Token[]): TextMutation[] {
  return Array.from({ length: CUTS }, (_, index) => {
    const at = Math.floor((text.trimEnd().length * (index + 1)) / (CUTS + 1));
    const rest = text.slice(0, at).trimEnd();
    const end = rest.split('\n').length;
    const openers = tokens.filter(({ start, partner }) => start < at && partner >= end).map(({ line }) => line);
    return {
      name: `cut off at ${place(text, at)}`,
      text: rest,
      file: 'mutated.json',
      lines: new Set([end, ...openers]),
    };
  });
}

/** Duplicates each line `key: value` or `key = value` of a YAML or TOML text. */
export function linesTwice(text: string, file: string): TextMutation[] {
  const isToml = file.endsWith('.toml');
  const lines = text.split('\n');
  const single = isToml ? /^[\w$"/-]+ = / : /^ *[\w$/-]+: \S/;
  return lines.flatMap((line, index) => {
    if (!single.test(line)) return [];
    const doubled = [...lines.slice(0, index + 1), line, ...lines.slice(index + 1)].join('\n');
    return [{ name: `write line ${index + 1} twice in ${file}`, text: doubled, file, lines: new Set([index + 2]) }];
  });
}

function place(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
}
