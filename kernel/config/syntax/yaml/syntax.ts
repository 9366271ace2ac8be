import type { ParsedNode, Document as YamlDocument } from 'yaml';
import { lineIndex, type TextRange } from '../position.ts';
import { syntaxFault, type TextFault } from '../text-format.ts';
import { rangeOf } from './places.ts';
import { wordsFor } from './words.ts';

type Yaml = typeof import('yaml');

/**
 * Rewords parser errors for operators; unclosed brackets and quotes are reported with their start.
 * @throws RangeError if the text is nested too deeply.
 */
export function yamlSyntaxFaults(library: Yaml, document: YamlDocument<ParsedNode>, text: string): TextFault[] {
  const position = lineIndex(text);
  const length = text.trimEnd().length;
  let openers: readonly TextRange[] | undefined;
  if (document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) throw new RangeError('nested too deeply');
  return document.errors.flatMap(({ code, message, pos: [start, end] }) => {
    const range = onOneLine(text, Math.min(start, length), end);
    const at = range.start;
    // The closing bracket of a list or object that the parser reported as unclosed because the bracket is not indented
    // correctly.
    if (openers && /flow-\w+-end/.test(message)) return [];
    if (/^Missing closing|must be sufficiently indented and end with/.test(message)) {
      openers ??= unclosedIn(library, document, text);
      const opener = openers.findLast((match) => match.start < at);
      if (opener) return [unclosed(opener, position(opener).line, text[opener.start]!, range)];
    }
    const [ours, hint] = wordsFor(code, message);
    return [syntaxFault(ours, range, hint)];
  });
}

const rest = /[^\r\n]*/y;
const whiteSpace = /[ \t]*/y;

/** Limits a range to its first line; a range that starts in the indentation becomes the whole indentation. */
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

/** Starts of lists, objects and strings in brackets or quotes that lack their closer. */
function unclosedIn(library: Yaml, document: YamlDocument<ParsedNode>, text: string): TextRange[] {
  const results: TextRange[] = [];
  library.visit(document, {
    Node(_key, node) {
      const { start, end } = rangeOf(node, text);
      const [closer] = closers[text[start]!] ?? [];
      if (closer && (end - start < 2 || text[end - 1] !== closer)) results.push({ start, end: start + 1 });
    },
  });
  return results;
}

function unclosed(opener: TextRange, line: number, opening: string, range: TextRange): TextFault {
  const [closer, name] = closers[opening]!;
  return {
    ...syntaxFault(`the ${name} that began at line ${line} is not closed`, range, `close it with ${closer}`),
    related: [{ message: `the ${name} begins here`, range: opener }],
  };
}
