import { type Data, type DataObject, isObject } from '#contract';
import { Findings, nearest, type Path } from './findings.ts';
import type { ArrayRules, Dependency, ObjectRules, Run, SchemaNode, SchemaReader } from './node.ts';
import { createIdentify, eachDuplicate } from './values.ts';

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
    additional: additional === undefined || additional === true ? null : reader.child('additionalProperties'),
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
  if (patterns.length > 0 || additional !== null) {
    for (const key of Object.keys(value)) checkUndeclared(rules, key, value[key]!, path, findings, run);
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
  value: Data,
  parent: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { declared, patterns, additional } = rules;
  const path = { parent, key };
  let matched = declared.has(key);
  for (const { pattern, node } of patterns) {
    if (!pattern.test(key)) continue;
    matched = true;
    run.evaluate(node, value, path, findings, run);
  }
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
  const dependencies = reader.get('dependencies');
  if (!isObject(dependencies ?? null)) return null;
  return Object.entries(dependencies as DataObject).map(([key, needs]) => ({
    key,
    needs: Array.isArray(needs) ? (needs as string[]) : reader.child('dependencies', key),
  }));
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
