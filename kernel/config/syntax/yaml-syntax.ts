import type { ParsedNode, Document as YamlDocument } from 'yaml';
import { lineIndex, type TextRange } from './position.ts';
import { syntaxFault, type TextFault } from './text-format.ts';
import { stretchOf } from './yaml-places.ts';
import { wordsFor } from './yaml-words.ts';

type Yaml = typeof import('yaml');

/**
 * The parser's mistakes in an operator's words; what is not closed is told with where it began.
 * @throws RangeError when the text is nested too deeply.
 */
export function yamlSyntaxFaults(library: Yaml, document: YamlDocument<ParsedNode>, text: string): TextFault[] {
  const place = lineIndex(text);
  const length = text.trimEnd().length;
  let openers: readonly TextRange[] | undefined;
  if (document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) throw new RangeError('nested too deeply');
  return document.errors.flatMap(({ code, message, pos: [start, end] }) => {
    const stretch = onOneLine(text, Math.min(start, length), end);
    const at = stretch.start;
    // The closer of what was told to be unclosed: it is there, but not indented as it must be.
    if (openers && /flow-\w+-end/.test(message)) return [];
    if (/^Missing closing|must be sufficiently indented and end with/.test(message)) {
      openers ??= unclosedIn(library, document, text);
      const opener = openers.findLast((found) => found.start < at);
      if (opener) return [unclosed(opener, place(opener).line, text[opener.start]!, stretch)];
    }
    const [ours, hint] = wordsFor(code, message);
    return [syntaxFault(ours, stretch, hint)];
  });
}

const rest = /[^\r\n]*/y;
const whiteSpace = /[ \t]*/y;

/** The stretch as far as it stands on its first line; all of the line's indentation where it begins in it. */
function onOneLine(text: string, start: number, end: number): TextRange {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const indented = lineStart + lengthOf(whiteSpace, text, lineStart);
  if (start < indented) return { start: lineStart, end: indented };
  return { start, end: Math.min(Math.max(start, end), start + lengthOf(rest, text, start)) };
}

function lengthOf(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.exec(text)![0].length;
}

const closers: Readonly<Record<string, readonly [closer: string, name: string]>> = {
  '[': [']', 'list'],
  '{': ['}', 'object'],
  '"': ['"', 'string'],
  "'": ["'", 'string'],
};

/** Where lists, objects and strings in brackets or quotes begin that do not end with their own. */
function unclosedIn(library: Yaml, document: YamlDocument<ParsedNode>, text: string): TextRange[] {
  const found: TextRange[] = [];
  library.visit(document, {
    Node(_key, node) {
      const { start, end } = stretchOf(node, text);
      const [closer] = closers[text[start]!] ?? [];
      if (closer && (end - start < 2 || text[end - 1] !== closer)) found.push({ start, end: start + 1 });
    },
  });
  return found;
}

function unclosed(opener: TextRange, line: number, opening: string, stretch: TextRange): TextFault {
  const [closer, name] = closers[opening]!;
  return {
    ...syntaxFault(`the ${name} that began at line ${line} is not closed`, stretch, `close it with ${closer}`),
    related: [{ message: `the ${name} begins here`, stretch: opener }],
  };
}
