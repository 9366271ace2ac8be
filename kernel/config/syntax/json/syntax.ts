import { lineIndex, type TextRange } from '../position.ts';
import { templateFault } from '../template.ts';
import { syntaxFault, type TextFault } from '../text-format.ts';
import {
  badKey,
  badString,
  badWord,
  isClosedString,
  literal,
  lookAhead,
  type Token,
  tokenAt,
  wordRange,
} from './token.ts';

/** An object or a list that has not been closed yet. */
interface Opened extends TextRange {
  readonly kind: '{' | '[';
}

const CLOSERS = { '{': '}', '[': ']' } as const;
const leading = /[ \t]*/y;
const NAMES = { '{': 'object', '[': 'list' } as const;

/**
 * All independent errors in a JSON text with comments; errors that only follow from an earlier one are omitted.
 * @throws RangeError if the text is nested too deeply.
 */
export function jsonSyntaxFaults(text: string): TextFault[] {
  const faults: TextFault[] = [];
  const opened: Opened[] = [];
  const position = lineIndex(text);
  const lineOf = (range: TextRange): number => position(range).line;
  let token = tokenAt(text, 0);
  /** End of the previous token. */
  let last = 0;
  /** True if an earlier error, such as a string without a closing quote, may have hidden a comma. */
  let isCommaLost = false;
  /** Innermost opener so far whose closer is indented less than the opener's line. */
  let suspect: readonly [opener: Opened, closer: TextRange] | undefined;
  let isEndReported = false;

  const is = (kind: Token['kind']): boolean => token.kind === kind;
  const next = (): void => jump(token.end);
  const jump = (offset: number): void => {
    last = offset;
    token = tokenAt(text, offset);
  };
  const report = (fault: TextFault): void => {
    faults.push(fault);
  };
  const complain = (message: string, range: TextRange, hint?: string, mend?: string): void =>
    report(syntaxFault(message, range, hint, mend));
  /**
   * Position at which something is missing: the token found there instead, or the end of the line that should contain
   * it.
   */
  const gap = (): TextRange => {
    const isSameLine = token.kind !== 'end' && lineOf(token) === lineOf({ start: last, end: last });
    return isSameLine ? token : { start: last, end: last };
  };

  function value(): void {
    if (token.kind === '{') object();
    else if (token.kind === '[') list();
    else if (token.kind === '"') checkedString();
    else if (token.kind === 'word') checkedWord();
    else if (token.kind === 'comment') unclosedComment();
    else if (token.kind === 'template') template();
    else complain('a value is missing here', gap());
  }

  function checkedString(): void {
    const fault = badString(text, token);
    if (fault) report(fault);
    isCommaLost = !isClosedString(text, token);
    next();
  }

  function checkedWord(): void {
    if (literal.test(text.slice(token.start, token.end))) return next();
    const range = wordRange(text, token.start, false);
    report(badWord(text, range));
    jump(range.end);
  }

  function unclosedComment(): void {
    complain('this comment is never closed', { start: token.start, end: token.start + 2 }, 'end it with */');
    next();
  }

  /** The text that a template expression produces is unknown: it may include a comma. */
  function template(): void {
    report(templateFault(text, token));
    isCommaLost = true;
    next();
  }

  function object(): void {
    inside('{', 'key', () => {
      const key = token;
      if (token.kind === '"') checkedString();
      else if (token.kind === 'word') {
        const range = wordRange(text, token.start, true);
        report(badKey(text, range));
        jump(range.end);
      } else if (token.kind === 'comment') return unclosedComment();
      else if (token.kind === 'template') return template();
      else complain('a key is missing here', token);
      if (token.kind === ':') next();
      else {
        complain('a colon is missing after this key', gap());
        if (!/^["{[w]/.test(token.kind)) return;
      }
      const first = token;
      const before = gap();
      value();
      if (isListWithoutOpener(key, first)) restOfList(before);
    });
  }

  function list(): void {
    let hasKeys = false;
    inside('[', 'value', () => {
      value();
      if (token.kind !== ':') return;
      if (!hasKeys) complain('a list contains values, not keys', token, 'write { } around keys and values');
      hasKeys = true;
      next();
      value();
    });
  }

  /**
   * Whether a list was begun without its bracket. @param key key of the value just read, whose first token is `first`.
   */
  function isListWithoutOpener(key: Token, first: Token): boolean {
    const isBelow = lineOf(first) > lineOf(key) && startsLine(first);
    if (is(']')) {
      if (isBelow) return startsLine(token) && indentation(token) === indentation(key);
      return lineOf(token) === lineOf(key) && lineOf(key) > lineOf(opened.at(-1)!);
    }
    const second = is(',') ? tokenAt(text, token.end) : token;
    if (second.kind !== first.kind || isKey(second)) return false;
    if (isBelow) return startsLine(second) && indentation(second) === indentation(first);
    const { closer, hasKeys } = lookAhead(text, second.start);
    return closer?.kind === ']' && !hasKeys && lineOf(closer) === lineOf(key);
  }

  function restOfList(range: TextRange): void {
    while (is(',')) {
      next();
      value();
    }
    const fault = syntaxFault('the opening bracket of this list is missing', range, 'write [ before its first value');
    if (!is(']')) return report(fault);
    report({ ...fault, related: [{ message: 'the list ends here', range: token }] });
    next();
  }

  /** Reads the items of an object or a list up to its closer. */
  function inside(kind: Opened['kind'], what: string, item: () => void): void {
    const opener: Opened = { kind, start: token.start, end: token.end };
    opened.push(opener);
    next();
    let comma: Token | undefined;
    let itemEnd = last;
    for (let isFirst = true; !closes(opener, comma, itemEnd); isFirst = false) {
      if (token.kind === ',') {
        complain(isFirst ? `a comma before the first ${what}` : 'a second comma', token, 'remove the comma', '');
        next();
        continue;
      }
      if (!isFirst && !comma) missingComma(kind, what);
      item();
      itemEnd = last;
      comma = is(',') ? token : undefined;
      if (comma) next();
    }
    opened.pop();
  }

  function missingComma(kind: Opened['kind'], what: string): void {
    const isItem = kind === '[' || isKey(token);
    if (is('comment') || is('template') || (isCommaLost && isItem)) return;
    if (isItem) {
      const hint = 'write a comma after the value before it';
      // On one line, a missing quote is as likely as a missing comma.
      const mend = startsLine(token) ? { start: last, end: last, text: ',' } : undefined;
      report({ ...syntaxFault(`a comma is missing before this ${what}`, token, hint), mend });
    } else complain('expected a comma or the end of the object after the value', token);
  }

  function isKey(candidate: Token): boolean {
    return /^["w]/.test(candidate.kind) && tokenAt(text, candidate.end).kind === ':';
  }

  /** True if the object or list ends here, correctly or not. */
  function closes(opener: Opened, comma: Token | undefined, itemEnd: number): boolean {
    if (token.kind === 'end') {
      unclosedAtEnd();
      return true;
    }
    if (runsIntoKey(opener)) {
      report(unclosed(opener, { start: itemEnd, end: itemEnd }));
      isCommaLost = true;
      return true;
    }
    if (token.kind === '{' && opener.kind === '{' && opened.some(({ kind }) => kind === '[')) {
      // An object in place of a key is the next item of the enclosing list.
      report(unclosed(...suspected(opener, token)));
      isCommaLost = true;
      return true;
    }
    if (token.kind !== '}' && token.kind !== ']') return false;
    const closer = CLOSERS[opener.kind];
    if (token.kind !== closer) {
      const isOuter = opened.some(({ kind }) => CLOSERS[kind] === token.kind);
      if (isOuter) report(unclosed(...suspected(opener, token)));
      else complain(`'${token.kind}' cannot close ${withArticle(opener)}`, token, `write ${closer}`);
      if (!isOuter) next();
      return true;
    }
    if (comma) complain(`trailing comma`, comma, 'remove the comma', '');
    if (!suspect && startsLine(token) && indentation(token) < indentation(opener)) suspect = [opener, token];
    next();
    return true;
  }

  /** True if a list is followed by a key of an enclosing object, judging by the layout or by the next bracket. */
  function runsIntoKey(opener: Opened): boolean {
    if (opener.kind === '{' || !isKey(token) || !opened.some(({ kind }) => kind === '{')) return false;
    if (lineOf(token) > lineOf(opener) && indentation(token) <= indentation(opener)) return true;
    const { closer } = lookAhead(text, token.end);
    return closer !== undefined && closer.kind !== ']';
  }

  /** Reports only the first of the brackets still open at the end of the text; the others are open for the same reason. */
  function unclosedAtEnd(): void {
    if (!isEndReported) report(unclosed(...suspected(opened.at(-1)!, { start: last, end: last })));
    isEndReported = true;
  }

  /** Prefers an inner opener whose closer is indented too little: it shows better where a closer is missing. */
  function suspected(opener: Opened, range: TextRange): readonly [Opened, TextRange] {
    const culprit = suspect && suspect[0].start > opener.start ? suspect : ([opener, range] as const);
    suspect = undefined;
    return culprit;
  }

  function unclosed(opener: Opened, range: TextRange): TextFault {
    const name = NAMES[opener.kind];
    const message = `the ${name} that began at line ${lineOf(opener)} is not closed`;
    const related = [{ message: `the ${name} begins here`, range: opener }];
    return { ...syntaxFault(message, range, `close it with ${CLOSERS[opener.kind]}`), related };
  }

  /** Leading white space of the line. */
  function indentation({ start, end }: TextRange): number {
    leading.lastIndex = start - position({ start, end }).column + 1;
    return leading.exec(text)![0].length;
  }

  function startsLine(range: TextRange): boolean {
    return position(range).column - 1 === indentation(range);
  }

  while (is('template')) template();
  if (token.kind === 'end') complain('the file is empty', { start: 0, end: 0 });
  else value();
  while (is('template')) template();
  const rest: Token = token;
  if (rest.kind === 'comment') unclosedComment();
  else if (rest.kind === '}' || rest.kind === ']') complain(`this '${rest.kind}' closes nothing`, rest, 'remove it');
  else if (rest.kind !== 'end') complain('text after the end of the document', rest);
  return faults;
}

function withArticle({ kind }: Opened): string {
  return kind === '{' ? 'an object' : 'a list';
}
