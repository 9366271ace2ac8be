import fc from 'fast-check';
import { parseExact, printJson } from '../../../kernel/values/json.ts';
import { damaged, data } from '../grammar.ts';
import { defineTarget } from '../target.ts';

const numerals = fc.oneof(
  fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,24})(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,4})?$/),
  fc.constantFrom('1e400', '-0', '-0.0', '0.30000000000000004', '9007199254740993', '1E+2'),
);
const texts = fc
  .tuple(data, fc.array(numerals, { maxLength: 4 }))
  .map(([value, numbers]) => `{"numbers":[${numbers.join(' ,\n')}],"value":${JSON.stringify(value)}}`);

/** The JSON parser that preserves the digits of numbers. */
export const exactJson = defineTarget({
  name: 'exact-json',
  law: 'Accepts the texts that JSON.parse accepts, with equal values, and no others; printed values read the same again.',
  boundMs: 50,
  rooms: ['kernel/values/json.ts'],
  isGuided: true,
  inputs: damaged(texts),
  async open() {
    return { accept, async close() {} };
  },
});

function accept(text: string): void {
  const [ours, theirs] = [tryTo(() => parseExact(text)), tryTo(() => JSON.parse(text))];
  if (ours.error && !(ours.error instanceof SyntaxError)) throw ours.error;
  if ((ours.error === null) !== (theirs.error === null))
    throw new Error(`ours ${ours.error}, JSON.parse ${theirs.error}`);
  if (ours.error) return;
  const printed = printJson(ours.value as never);
  if (textOf(JSON.parse(printed)) !== textOf(theirs.value)) throw new Error(`other values: ${printed}`);
  if (printJson(parseExact(printed)) !== printed) throw new Error(`other digits when read again: ${printed}`);
}

/** Canonical text, equal for equal values; numbers that JavaScript reads as infinite remain numbers. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, one) => (typeof one === 'number' && !Number.isFinite(one) ? String(one) : one));
}

function tryTo(run: () => unknown): { value: unknown; error: Error | null } {
  try {
    return { value: run(), error: null };
  } catch (error) {
    return { value: undefined, error: error as Error };
  }
}
