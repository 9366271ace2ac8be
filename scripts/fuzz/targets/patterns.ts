import fc from 'fast-check';
import { CallError } from '#contract';
import { PatternError } from '../../../kernel/contract/internal.ts';
import { createPatterns } from '../../../kernel/patterns/patterns.ts';
import { damaged, programs } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const expressions = programs(
  ['a', 'b', '.', '\\d', '\\w', '[ab]', '[^a]', '^', '$', '\\b', '(?i:A)', 'é', '\\pL', ''],
  ['#*', '#+', '#?', '#{2,5}', '#{0,9}', '(#)', '(?:#|#)', '##', '(?P<n>#)', '#*?'],
);
const subjects = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', ' ', 'é', '\n'), maxLength: 40 }),
  fc.nat({ max: 13 }).map((power) => `${'ab'.repeat(2 ** power)}c`),
);

/** Regular expressions in configurations. */
export const patterns = defineTarget({
  name: 'patterns',
  law: 'An expression is refused by PatternError or matches in bounded time, and says of short ASCII texts what V8 says.',
  boundMs: 250,
  rooms: ['kernel/patterns/'],
  isGuided: true,
  inputs: fc.record({ expression: damaged(expressions), subject: subjects }),
  async open() {
    return { accept, async close() {} };
  },
});

function accept({ expression, subject }: { expression: string; subject: string }): void {
  let found: boolean;
  try {
    found = createPatterns().compile(expression).test(subject);
  } catch (error) {
    if (error instanceof PatternError || error instanceof CallError) return;
    throw error;
  }
  // Other patterns are skipped, because the two dialects differ, or V8 could take forever.
  const isShared = /^[ab.()|?*+{}0-9,[\]^$]*$/.test(expression) && !/\(\?|\[\^?\]|\{(?:0\d|,)/.test(expression);
  if (!isShared || subject.length > 16 || expression.length > 30 || subject.includes('\n')) return;
  let expected: boolean;
  try {
    expected = new RegExp(expression, 'u').test(subject);
  } catch {
    return;
  }
  if (found !== expected) throw new Error(`matches: ${found}; V8: ${expected}`);
}
