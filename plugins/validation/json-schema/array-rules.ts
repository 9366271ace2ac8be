import type { Data } from '#contract';
import { nearest } from './combinators.ts';
import { createIdentify, eachDuplicate } from './equality.ts';
import { Findings, type Path } from './findings.ts';
import type { Run, SchemaNode, SchemaReader } from './node.ts';

export interface ArrayRules {
  /** One schema for all items. */
  readonly every: SchemaNode | null;
  /** One schema for each position. */
  readonly each: readonly SchemaNode[] | null;
  /** For the positions beyond `each`. */
  readonly additional: SchemaNode | null;
  readonly minItems: number | null;
  readonly maxItems: number | null;
  readonly unique: boolean;
  readonly contains: SchemaNode | null;
}

export function readArrayRules(reader: SchemaReader): ArrayRules | null {
  const items = reader.get('items');
  const additional = reader.get('additionalItems');
  const each = Array.isArray(items) ? items.map((_, index) => reader.child('items', index)) : null;
  const rules: ArrayRules = {
    every: items === undefined || each ? null : reader.child('items'),
    each,
    additional: !each || additional === undefined || additional === true ? null : reader.child('additionalItems'),
    minItems: reader.count('minItems'),
    maxItems: reader.count('maxItems'),
    unique: reader.get('uniqueItems') === true,
    contains: reader.get('contains') === undefined ? null : reader.child('contains'),
  };
  return Object.values(rules).every((rule) => rule === null || rule === false) ? null : rules;
}

export function checkArray(
  rules: ArrayRules,
  items: readonly Data[],
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { minItems, maxItems, unique, contains } = rules;
  checkItems(rules, items, path, findings, run);
  if (minItems !== null && items.length < minItems) findings.add(path, `Array must have at least ${minItems} items`);
  if (maxItems !== null && items.length > maxItems) findings.add(path, `Array must have at most ${maxItems} items`);
  if (unique) {
    run.identify ??= createIdentify();
    eachDuplicate(items, run.identify, (first, second) =>
      findings.add(path, `array items[${first},${second}] must be unique`),
    );
  }
  if (contains !== null) checkContains(contains, items, path, findings, run);
}

function checkItems(rules: ArrayRules, items: readonly Data[], path: Path | null, findings: Findings, run: Run): void {
  const { every, each, additional } = rules;
  if (every !== null) {
    for (let key = 0; key < items.length; key += 1) {
      run.evaluate(every, items[key]!, { parent: path, key }, findings, run);
    }
  }
  if (each === null) return;
  for (let key = 0; key < items.length && key < each.length; key += 1) {
    run.evaluate(each[key]!, items[key]!, { parent: path, key }, findings, run);
  }
  if (additional === null || items.length <= each.length) return;
  if (additional.pass === false) {
    findings.add(path, 'No additional items allowed on array');
    return;
  }
  for (let key = each.length; key < items.length; key += 1) {
    run.evaluate(additional, items[key]!, { parent: path, key }, findings, run);
  }
}

function checkContains(
  contains: SchemaNode,
  items: readonly Data[],
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  let closest: Findings | null = null;
  for (let key = 0; key < items.length; key += 1) {
    const tried = new Findings();
    run.evaluate(contains, items[key]!, { parent: path, key }, tried, run);
    if (tried.count === 0) return;
    closest = nearest(closest, tried);
  }
  findings.add(path, 'At least one of the items must match');
  if (closest !== null) findings.append(closest);
}
