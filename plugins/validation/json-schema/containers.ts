import { type Data, type DataObject, isObject } from '#contract';
import { Findings, nearest, type Path } from './findings.ts';
import type { ArrayRules, Dependency, ObjectRules, Run, SchemaNode, SchemaReader } from './node.ts';
import { createIdentify, eachDuplicate } from './values.ts';

export function readArrayRules(reader: SchemaReader): ArrayRules | null {
  const { each, every, additional } = readItems(reader);
  const contains = reader.get('contains') === undefined ? null : reader.child('contains');
  const rules: ArrayRules = {
    every,
    each,
    additional,
    minItems: reader.count('minItems'),
    maxItems: reader.count('maxItems'),
    unique: reader.get('uniqueItems') === true,
    contains,
    minContains: reader.count('minContains') ?? 1,
    maxContains: reader.count('maxContains'),
    containsEvaluates: reader.draft.containsEvaluates,
  };
  const { minItems, maxItems, unique } = rules;
  const idle = [every, each, additional, minItems, maxItems, contains].every((rule) => rule === null) && !unique;
  return idle ? null : rules;
}

/** Reads the schemas of items by position: `prefixItems` and `items`, or in older drafts `items` and `additionalItems`. */
function readItems(reader: SchemaReader): Pick<ArrayRules, 'every' | 'each' | 'additional'> {
  const items = reader.get('items');
  const listed = Array.isArray(items) ? 'items' : 'prefixItems';
  const list = reader.get(listed) as Data[] | undefined;
  if (list === undefined) {
    return { every: items === undefined ? null : reader.child('items'), each: null, additional: null };
  }
  const rest = listed === 'items' ? 'additionalItems' : 'items';
  return {
    every: null,
    each: list.map((_, index) => reader.child(listed, index)),
    additional: reader.get(rest) === undefined ? null : reader.child(rest),
  };
}

export function checkArray(
  rules: ArrayRules,
  items: readonly Data[],
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { minItems, maxItems, unique, contains } = rules;
  if (run.tracks) markItems(rules, items, findings);
  checkItems(rules, items, path, findings, run);
  if (minItems !== null && items.length < minItems) findings.add(path, `Array must have at least ${minItems} items`);
  if (maxItems !== null && items.length > maxItems) findings.add(path, `Array must have at most ${maxItems} items`);
  if (unique) {
    run.identify ??= createIdentify();
    eachDuplicate(items, run.identify, (first, second) =>
      findings.add(path, `array items[${first},${second}] must be unique`),
    );
  }
  if (contains !== null) checkContains(rules, contains, items, path, findings, run);
}

function markItems({ every, each, additional }: ArrayRules, items: readonly Data[], findings: Findings): void {
  const evaluated = findings.evaluated(items);
  if (every !== null || additional !== null) evaluated.all = true;
  if (each !== null) evaluated.items = Math.max(evaluated.items, each.length);
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
  if (additional === null || items.length <= each.length || additional.pass === true) return;
  if (additional.pass === false) {
    findings.add(path, 'No additional items allowed on array');
    return;
  }
  for (let key = each.length; key < items.length; key += 1) {
    run.evaluate(additional, items[key]!, { parent: path, key }, findings, run);
  }
}

function checkContains(
  { minContains, maxContains, containsEvaluates }: ArrayRules,
  contains: SchemaNode,
  items: readonly Data[],
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  let closest: Findings | null = null;
  let matching = 0;
  const marks = containsEvaluates && run.tracks ? findings.evaluated(items) : null;
  for (let key = 0; key < items.length; key += 1) {
    const tried = new Findings();
    run.evaluate(contains, items[key]!, { parent: path, key }, tried, run);
    if (tried.count === 0) {
      matching += 1;
      marks?.keys.add(key);
      if (matching >= minContains && maxContains === null && marks === null) return;
    } else closest = nearest(closest, tried);
  }
  if (maxContains !== null && matching > maxContains) {
    findings.add(path, `At most ${maxContains} of the items may match`);
  }
  if (matching >= minContains) return;
  findings.add(path, `At least ${minContains === 1 ? 'one' : minContains} of the items must match`);
  if (closest !== null) findings.append(closest);
}

export function readObjectRules(reader: SchemaReader): ObjectRules | null {
  const required = (reader.get('required') as string[] | undefined) ?? [];
  const keys = Object.keys((reader.get('properties') as DataObject | undefined) ?? {});
  const sources = Object.keys((reader.get('patternProperties') as DataObject | undefined) ?? {});
  const additional = reader.get('additionalProperties');
  const rules: ObjectRules = {
    minProperties: reader.count('minProperties'),
    maxProperties: reader.count('maxProperties'),
    required,
    properties: keys.map((key) => ({ key, node: reader.child('properties', key) })),
    declared: new Set(keys),
    patterns: sources.map((source) => ({
      pattern: reader.pattern(source, 'patternProperties', source),
      node: reader.child('patternProperties', source),
    })),
    additional: additional === undefined ? null : reader.child('additionalProperties'),
    names: reader.get('propertyNames') === undefined ? null : reader.child('propertyNames'),
  };
  const idle =
    rules.minProperties === null &&
    rules.maxProperties === null &&
    required.length + keys.length + sources.length === 0 &&
    rules.additional === null &&
    rules.names === null;
  return idle ? null : rules;
}

/** Checks all rules of an object except the declared properties, which are checked after all other rules: see `checkProperties`. */
export function checkObject(
  rules: ObjectRules,
  value: DataObject,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { minProperties, maxProperties, required, patterns, additional, names } = rules;
  if (minProperties !== null || maxProperties !== null) {
    const count = Object.keys(value).length;
    if (minProperties !== null && count < minProperties) {
      findings.add(path, `Must have at least ${minProperties} properties`);
    }
    if (maxProperties !== null && count > maxProperties) {
      findings.add(path, `Must have at most ${maxProperties} properties`);
    }
  }
  for (const key of required) {
    if (Object.hasOwn(value, key)) findings.score += 1;
    else findings.add(path, `${key} is required`);
  }
  if (patterns.length > 0 || (additional !== null && additional.pass !== true) || run.tracks) {
    for (const key of Object.keys(value)) checkUndeclared(rules, key, value, path, findings, run);
  }
  if (names !== null) {
    for (const key of Object.keys(value)) {
      const inner = new Findings();
      run.evaluate(names, key, path, inner, run);
      if (inner.count === 0) continue;
      findings.add(path, `Property name of "${key}" does not match`);
      findings.append(inner);
    }
  }
}

function checkUndeclared(
  rules: ObjectRules,
  key: string,
  owner: DataObject,
  parent: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { declared, patterns, additional } = rules;
  const value = owner[key]!;
  const path = { parent, key };
  let matched = declared.has(key);
  for (const { pattern, node } of patterns) {
    if (!pattern.test(key)) continue;
    matched = true;
    run.evaluate(node, value, path, findings, run);
  }
  if (run.tracks && (matched || additional !== null)) findings.evaluated(owner).keys.add(key);
  if (matched || additional === null) return;
  if (additional.pass === false) findings.add(parent, `Additional property ${key} is not allowed`);
  else run.evaluate(additional, value, path, findings, run);
}

export function checkProperties(
  rules: ObjectRules,
  value: DataObject,
  parent: Path | null,
  findings: Findings,
  run: Run,
): void {
  for (const { key, node } of rules.properties) {
    if (Object.hasOwn(value, key)) run.evaluate(node, value[key]!, { parent, key }, findings, run);
  }
}

export function readDependencies(reader: SchemaReader): Dependency[] | null {
  const all = ['dependencies', 'dependentRequired', 'dependentSchemas'].flatMap((keyword) => {
    const dependencies = reader.get(keyword);
    if (!isObject(dependencies ?? null)) return [];
    return Object.entries(dependencies as DataObject).map(([key, needs]) => ({
      key,
      needs: Array.isArray(needs) ? (needs as string[]) : reader.child(keyword, key),
    }));
  });
  return all.length === 0 ? null : all;
}

export function checkDependencies(
  dependencies: readonly Dependency[],
  value: DataObject,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  for (const { key, needs } of dependencies) {
    if (!Object.hasOwn(value, key)) continue;
    if (!Array.isArray(needs)) {
      run.evaluate(needs as SchemaNode, value, path, findings, run);
      continue;
    }
    for (const name of needs as string[]) {
      if (!Object.hasOwn(value, name)) findings.add(path, `Has a dependency on ${name}`);
    }
  }
}
