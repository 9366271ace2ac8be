import { Failure } from '../budget.ts';
import { areSame } from '../compare.ts';
import { bounded, type Functions, fn } from '../function.ts';
import type { Run } from '../run.ts';
import { describe, isList, isTrue, type List, type Value } from '../value.ts';
import { toInteger } from './numbers.ts';

/** List functions. The variants with the prefix `must` behave the same: a value that is not a list is always an error. */
const named: Functions = {
  append: bounded('list any', (run, list, value) => [...copied(list, run), value]),
  prepend: bounded('list any', (run, list, value) => [value, ...copied(list, run)]),
  first: fn('list', (list) => list[0] ?? null),
  rest: bounded('list', (run, list) => copied(list, run).slice(1)),
  last: fn('list', (list) => list.at(-1) ?? null),
  initial: bounded('list', (run, list) => copied(list, run).slice(0, -1)),
  reverse: bounded('list', (run, list) => copied(list, run).reverse()),
  uniq: bounded('list', (run, list) => {
    const kept: Value[] = [];
    for (const item of list) if (!holds(kept, item, run)) kept.push(item);
    return kept;
  }),
  without: bounded('list any...', (run, list, ...omitted) => list.filter((item) => !holds(omitted, item, run))),
  has: bounded('any any', (run, item, list) => {
    if (list === undefined || list === null) return false;
    if (!isList(list)) throw new Failure(`argument 2 must be a list, found ${describe(list)}`);
    return holds(list, item, run);
  }),
  compact: bounded('list', (run, list) => copied(list, run).filter(isTrue)),
  slice: bounded('any any...', (run, list, ...limits) => sliced(list, limits, run)),
  chunk: bounded('int list', (run, size, list) => {
    if (size < 1) throw new Failure(`a chunk must have at least one item, not ${size}`);
    const items = copied(list, run);
    return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
      items.slice(index * size, (index + 1) * size),
    );
  }),
};

export const listFunctions: Functions = {
  ...named,
  ...Object.fromEntries(
    Object.entries(named).map(([name, target]) => [`must${name[0]!.toUpperCase()}${name.slice(1)}`, target]),
  ),
  list: fn('any...', (...values) => values),
  tuple: fn('any...', (...values) => values),
  push: named['append']!,
  mustPush: named['append']!,
  concat: bounded('list...', (run, ...lists) => lists.flatMap((list) => copied(list, run))),
};

function copied(list: List, run: Run): Value[] {
  run.budget.spend(list.length >> 3);
  run.budget.claim(list.length);
  return [...list];
}

function holds(list: List, value: Value, run: Run): boolean {
  run.budget.spend(list.length);
  return list.some((item) => areSame(item, value));
}

/** Slices a list, or the UTF-8 bytes of a text, which Sprig rejects and Go's own `slice` accepts. */
function sliced(list: Value, limits: readonly Value[], run: Run): Value {
  if (!isList(list) && typeof list !== 'string')
    throw new Failure(`argument 1 must be a list, found ${describe(list)}`);
  if (list.length === 0 && isList(list)) return null;
  const items = isList(list) ? copied(list, run) : Buffer.from(list);
  const [from = 0, to = items.length] = limits.map((limit) => Number(toInteger(limit)));
  if (from < 0 || from > to || to > items.length) {
    throw new Failure(`out of range: ${from} to ${to}, the length is ${items.length}`);
  }
  return Array.isArray(items) ? items.slice(from, to) : (items as Buffer).subarray(from, to).toString();
}
