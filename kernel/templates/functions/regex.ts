import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';
import { compileProgram, loadEngine } from '../../patterns/engine.ts';
import { readTemplate } from '../../patterns/template.ts';
import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import type { Run } from '../run.ts';

/** Maximum length of an expression, in UTF-16 units: it may come from a client, and compiling takes time. */
const LONGEST = 1024;

/** Product of text length and program size that costs one step of the template's budget: a few microseconds. */
const WORK_A_STEP = 256;

const named: Functions = {
  regexMatch: bounded('string string', (run, pattern, text) => programOf(pattern, text, run).test(text)),
  regexFind: bounded('string string', (run, pattern, text) => findAll(pattern, text, 1, run)[0]?.[0] ?? ''),
  regexFindAll: bounded('string string int', (run, pattern, text, count) =>
    findAll(pattern, text, count, run).map(([written]) => written),
  ),
  regexReplaceAll: bounded('string string string', (run, pattern, text, template) => {
    const program = programOf(pattern, text, run);
    const expand = readTemplate(template, program.groupCount(), program.namedGroups());
    return replaced(pattern, text, expand, run);
  }),
  regexReplaceAllLiteral: bounded('string string string', (run, pattern, text, by) =>
    replaced(pattern, text, () => by, run),
  ),
  regexSplit: bounded('string string int', split),
};

/** Regular expressions in RE2 syntax. The variants with the prefix `must` behave the same: an invalid expression is always an error. */
export const regexFunctions: Functions = {
  ...named,
  ...Object.fromEntries(
    Object.entries(named).map(([name, target]) => [`must${name[0]!.toUpperCase()}${name.slice(1)}`, target]),
  ),
  regexQuoteMeta: fn('string', (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};

/** The most recently used programs. Each takes up to 300 KiB. */
const programs = new LRUCache<string, RE2JS>({ max: 100 });

function programOf(pattern: string, text: string, run: Run): RE2JS {
  let program = programs.get(pattern);
  if (!program) {
    if (pattern.length > LONGEST) throw new Failure(`the expression has more than ${LONGEST} characters`);
    program = compiled(pattern);
    run.budget.spend(program.programSize());
    programs.set(pattern, program);
  }
  run.budget.spend(Math.ceil((text.length * program.programSize()) / WORK_A_STEP));
  return program;
}

function compiled(pattern: string): RE2JS {
  try {
    return compileProgram(pattern);
  } catch (error) {
    if (!(error instanceof loadEngine().RE2JSSyntaxException)) throw error;
    throw new Failure(`${JSON.stringify(pattern)} is not a regular expression: ${error.message}`);
  }
}

interface Match extends ReadonlyArray<string | undefined> {
  readonly 0: string;
  readonly index: number;
}

/** An empty match directly after another match does not count. @param count maximum number of matches; negative for all. */
function findAll(pattern: string, text: string, count: number, run: Run): Match[] {
  const program = programOf(pattern, text, run);
  const matches: Match[] = [];
  if (count === 0 || !program.test(text)) return matches;
  let end = -1;
  for (const match of program.matchAll(text)) {
    // Each search may read the rest of the text, so its whole length is charged.
    run.budget.spend(1 + Math.ceil((text.length - match.index!) / WORK_A_STEP));
    if (match[0] === '' && match.index === end) continue;
    end = match.index! + match[0].length;
    matches.push(match as unknown as Match);
    if (matches.length === count) break;
  }
  return matches;
}

function replaced(pattern: string, text: string, expand: (groups: Match) => string, run: Run): string {
  let result = '';
  let end = 0;
  for (const match of findAll(pattern, text, -1, run)) {
    const segment = text.slice(end, match.index) + expand(match);
    run.budget.claim(segment.length);
    result += segment;
    end = match.index + match[0].length;
  }
  return result + text.slice(end);
}

/** Splits like Go: a text that begins or ends with a match has an empty segment there, unless the match is empty. */
function split(run: Run, pattern: string, text: string, count: number): string[] {
  if (count === 0) return [];
  if (pattern !== '' && text === '') return [''];
  const segments: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of findAll(pattern, text, -1, run)) {
    if (count > 0 && segments.length === count - 1) break;
    end = match.index;
    const matchEnd = match.index + match[0].length;
    if (matchEnd !== 0) segments.push(text.slice(begin, end));
    begin = matchEnd;
  }
  if (end !== text.length) segments.push(text.slice(begin));
  return segments;
}
