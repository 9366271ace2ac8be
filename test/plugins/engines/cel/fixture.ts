import type { DataObject } from '#contract';
import { createPatterns } from '../../../../kernel/patterns/patterns.ts';
import { compileExpression, type Expression, type Verdict } from '../../../../plugins/engines/cel/expression.ts';
import { CelError } from '../../../../plugins/engines/cel/language/cel-error.ts';
import type { CelType } from '../../../../plugins/engines/cel/language/types.ts';
import { objectValue } from '../../../../plugins/engines/cel/language/values.ts';

const types: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['data', { key: 'string', value: 'dyn' }],
  ['params', { key: 'string', value: 'string' }],
  ['lists', { key: 'string', value: { list: 'string' } }],
  ['text', 'string'],
  ['number', 'int'],
  ['now', 'string'],
]);

const patterns = createPatterns();

export function compile(source: string): Expression {
  return compileExpression(source, types, patterns);
}

/** The result of an expression with some data. */
export function verdict(source: string, data: DataObject = {}, limitMs = Infinity): Verdict {
  const value = objectValue(data);
  const bindings = {
    data: value,
    params: objectValue({ Id: '4' }),
    lists: objectValue({ A: ['a', 'b'] }),
    text: 'text',
    number: 1n,
    now: '2024-03-31T02:30:00.250Z',
  };
  return compile(source).evaluate(bindings, limitMs);
}

/** The error of a rejected expression: code, message, hint and the affected part. */
export function refusal(source: string): readonly (string | undefined)[] {
  try {
    compile(source);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { code, message, hint, within } = error;
    return [code, message, hint, within && source.slice(within.start, within.end)];
  }
  throw new Error(`${source} is accepted`);
}
