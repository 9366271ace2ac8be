import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import { textOf } from '../print/print.ts';
import type { Run } from '../run.ts';
import { type Dict, describe, isList, isMap, isTrue, setValue, sortedKeys, type Value, valueAt } from '../value.ts';

/** Functions on maps. Keys are sorted, whereas Sprig's are in no particular order. */
export const dictFunctions: Functions = {
  dict: bounded('any...', (run, ...values) => {
    const result: Dict = {};
    for (let at = 0; at < values.length; at += 2) {
      setValue(result, textOf(values[at], run), at + 1 < values.length ? (values[at + 1] ?? null) : '');
    }
    return result;
  }),
  get: fn('map string', (map, key) => (Object.hasOwn(map, key) ? valueAt(map, key) : '')),
  set: fn('map string any', (map, key, value) => changed(map, () => setValue(map, key, value ?? null))),
  unset: fn('map string', (map, key) => changed(map, () => delete map[key])),
  hasKey: fn('map string', (map, key) => Object.hasOwn(map, key)),
  keys: bounded('map...', (run, ...maps) => maps.flatMap((map) => claimedKeys(map, run))),
  values: bounded('map', (run, map) => claimedKeys(map, run).map((key) => valueAt(map, key))),
  pluck: fn('string map...', (key, ...maps) =>
    maps.filter((map) => Object.hasOwn(map, key)).map((map) => valueAt(map, key)),
  ),
  pick: fn('map string...', (map, ...keys) =>
    picked(
      map,
      keys.filter((key) => Object.hasOwn(map, key)),
    ),
  ),
  omit: bounded('map string...', (run, map, ...keys) => {
    const omitted = new Set(keys);
    return picked(
      map,
      claimedKeys(map, run).filter((key) => !omitted.has(key)),
    );
  }),
  merge: bounded('map map...', (run, target, ...sources) => merged(run, target, sources, false)),
  mustMerge: bounded('map map...', (run, target, ...sources) => merged(run, target, sources, false)),
  mergeOverwrite: bounded('map map...', (run, target, ...sources) => merged(run, target, sources, true)),
  mustMergeOverwrite: bounded('map map...', (run, target, ...sources) => merged(run, target, sources, true)),
  deepCopy: bounded('any', (run, value) => deepCopy(value, run)),
  mustDeepCopy: bounded('any', (run, value) => deepCopy(value, run)),
  dig: fn('string any any any...', (first, ...rest) => {
    const keys = [first, ...rest.slice(0, -2)];
    let value = rest.at(-1);
    for (const key of keys) {
      if (typeof key !== 'string') throw new Failure(`a key must be a string, found ${describe(key)}`);
      if (!isMap(value)) throw new Failure(`cannot dig ${JSON.stringify(key)} out of ${describe(value)}`);
      if (!Object.hasOwn(value, key)) return rest.at(-2);
      value = valueAt(value, key);
    }
    return value;
  }),
};

function claimedKeys(map: Dict, run: Run): string[] {
  const keys = sortedKeys(map);
  run.budget.spend(keys.length);
  return keys;
}

/** Values from the configuration are frozen, so a copy is changed. */
function changed(map: Dict, change: () => void): Dict {
  if (Object.isFrozen(map)) throw new Failure('this map is read-only: use deepCopy to get a writable one');
  change();
  return map;
}

function picked(map: Dict, keys: readonly string[]): Dict {
  const result: Dict = {};
  for (const key of keys) setValue(result, key, valueAt(map, key));
  return result;
}

function merged(run: Run, target: Dict, sources: readonly Dict[], overwrites: boolean): Dict {
  return changed(target, () => {
    for (const source of sources) mergeInto(run, target, source, overwrites);
  });
}

/** Merges maps key by key; for other values, either the existing non-empty one or always the new one is used. */
function mergeInto(run: Run, target: Dict, source: Dict, overwrites: boolean): void {
  for (const key of claimedKeys(source, run)) {
    const value = valueAt(source, key);
    const present = valueAt(target, key);
    if (isMap(value) && isMap(present) && !Object.isFrozen(present)) mergeInto(run, present, value, overwrites);
    else if (overwrites || !isTrue(present)) setValue(target, key, value);
  }
}

function deepCopy(value: Value, run: Run): Value {
  run.budget.spend(1);
  if (isList(value)) return value.map((item) => deepCopy(item, run));
  if (!isMap(value)) return value;
  const copy: Dict = {};
  for (const key of Object.keys(value)) setValue(copy, key, deepCopy(valueAt(value, key), run));
  return copy;
}
