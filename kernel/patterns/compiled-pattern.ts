import type { RE2JS } from 're2js';
import { type Pattern, PatternLimit } from '#contract';
import { readTemplate } from './template.ts';

/** Maximum number of steps of one match in the worst case: text length times program size. About 0.2 seconds. */
const STEP_LIMIT = 16 * 1024 * 1024;

/** Time limit for all replacements in one text, in milliseconds: each match may scan the rest of the text again. */
const REPLACE_MS = 250;

/** Maximum length of a replacement result, in UTF-16 units. */
const LONGEST_RESULT = 32 * 1024 * 1024;

export class CompiledPattern implements Pattern {
  readonly source: string;
  readonly #program: RE2JS;
  /** Maximum length of a text to be matched, in UTF-16 units. */
  readonly #longest: number;

  constructor(source: string, program: RE2JS) {
    this.source = source;
    this.#program = program;
    this.#longest = Math.floor(STEP_LIMIT / program.programSize());
  }

  // Of the matching methods of the engine, only the two used here are fast.
  test(text: string): boolean {
    if (text.length > this.#longest) throw new PatternLimit(this.source);
    return this.#program.test(text);
  }

  testWhole(text: string): boolean {
    if (text.length > this.#longest) throw new PatternLimit(this.source);
    return this.#program.testExact(text);
  }

  replacer(template: string): (text: string) => string {
    const expand = readTemplate(template, this.#program.groupCount(), this.#program.namedGroups());
    return (text) => (this.test(text) ? this.#replace(text, expand) : text);
  }

  #replace(text: string, expand: (groups: readonly (string | undefined)[]) => string): string {
    const deadline = performance.now() + REPLACE_MS;
    let result = '';
    let end = -1;
    for (const match of this.#program.matchAll(text)) {
      if (performance.now() > deadline) throw new PatternLimit(this.source);
      const start = match.index!;
      // An empty match directly after another match does not count.
      if (match[0] === '' && start === end) continue;
      result += text.slice(Math.max(end, 0), start) + expand(match);
      if (result.length > LONGEST_RESULT) throw new PatternLimit(this.source);
      end = start + match[0].length;
    }
    return result + text.slice(Math.max(end, 0));
  }

  toString(): string {
    return `/${this.source}/`;
  }
}
