import { step } from '../checks/differences.ts';
import type { BreakKind } from './breaks.ts';
import { isRecognized } from './formats.ts';
import type { JsonType, Shape, Strings } from './shape.ts';

/** A difference of a value. */
export interface ShapeDifference {
  readonly kind: BreakKind | 'added';
  readonly at: string;
  readonly shown: string;
}

/** Maximum number of differences of a body. */
const MAX_DIFFERENCES = 200;

/**
 * Compares bodies with their contract.
 * @param before bodies before the change, in response to the same requests; they show that optional fields and values of
 *   an enum, which no later body contains, were not merely absent from the samples. Null without any.
 */
export function compareShapes(contract: Shape, before: Shape | null, after: Shape): ShapeDifference[] {
  const results: ShapeDifference[] = [];
  compare({ contract, before, after, at: '' }, results);
  return results;
}

interface Triple {
  readonly contract: Shape;
  readonly before: Shape | null;
  readonly after: Shape;
  readonly at: string;
}

function compare(triple: Triple, results: ShapeDifference[]): void {
  const { contract, before, after, at } = triple;
  if (results.length >= MAX_DIFFERENCES || contract.isOpen || after.isOpen || contract.types.size === 0) return;
  compareTypes(contract, after, at, results);
  if (contract.strings && after.strings)
    compareStrings(contract.strings, before?.strings ?? null, after.strings, at, results);
  if (contract.items && after.items) {
    compare({ contract: contract.items, before: before?.items ?? null, after: after.items, at: `${at}[]` }, results);
  }
  if (contract.fields && after.fields) compareFields(triple, results);
}

function compareTypes(contract: Shape, after: Shape, at: string, results: ShapeDifference[]): void {
  const extra = [...after.types].filter((type) => !allows(contract, type));
  if (extra.length === 0) return;
  const isNull = extra.length === 1 && extra[0] === 'null';
  const shown = isNull && after.types.size > 1 ? '' : `${typesOf(contract)} → ${typesOf(after)}`;
  results.push({ kind: isNull ? 'nullable' : 'type', at, shown });
}

function allows({ types }: Shape, type: JsonType): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

function typesOf({ typeNames }: Shape): string {
  return typeNames.join(' or ');
}

function compareStrings(
  contract: Strings,
  before: Strings | null,
  after: Strings,
  at: string,
  results: ShapeDifference[],
): void {
  for (const format of contract.formats) {
    if (isRecognized(format) && !after.formats.has(format))
      results.push({ kind: 'format', at, shown: `not ${format}` });
  }
  if (!contract.isEnum || !contract.values) return;
  if (!after.values) {
    results.push({ kind: 'enum', at, shown: 'many different values' });
    return;
  }
  for (const value of after.values) {
    if (!contract.values.has(value)) results.push({ kind: 'enum', at, shown: JSON.stringify(value) });
  }
  for (const value of contract.values) {
    if (before?.values?.has(value) && !after.values.has(value)) {
      results.push({ kind: 'no-value', at, shown: JSON.stringify(value) });
    }
  }
}

function compareFields({ contract, before, after, at }: Triple, results: ShapeDifference[]): void {
  const [promised, old, next] = [contract.fields!, before?.fields ?? null, after.fields!];
  for (const [key, { shape, count }] of promised.known) {
    const inner = step(at, key);
    const actual = next.known.get(key);
    const isRequired = count === promised.count;
    if (!actual) {
      if (isRequired || old?.known.has(key)) results.push({ kind: 'removed', at: inner, shown: '' });
      continue;
    }
    if (isRequired && actual.count < next.count) results.push({ kind: 'optional', at: inner, shown: '' });
    compare({ contract: shape, before: old?.known.get(key)?.shape ?? null, after: actual.shape, at: inner }, results);
  }
  const anyKey = at === '' ? '*' : `${at}.*`;
  const others = [...next.known].filter(([key]) => !promised.known.has(key));
  for (const [key, { shape }] of others) {
    if (!promised.others) results.push({ kind: 'added', at: step(at, key), shown: typesOf(shape) });
    else compare({ contract: promised.others, before: null, after: shape, at: anyKey }, results);
  }
  if (next.others && promised.others) {
    const own = { contract: promised.others, before: old?.others ?? null, after: next.others };
    compare({ ...own, at: anyKey }, results);
  }
}
