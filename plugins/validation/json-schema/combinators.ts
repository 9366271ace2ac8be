import { type Data, isObject } from '#contract';
import { checkDependencies, readDependencies } from './containers.ts';
import { Findings, nearest, type Path } from './findings.ts';
import type { Combinators, Run, SchemaNode, SchemaReader } from './node.ts';

export function readCombinators(reader: SchemaReader): Combinators | null {
  const one = (keyword: string) => (reader.get(keyword) === undefined ? null : reader.child(keyword));
  const several = (keyword: string) => {
    const list = reader.get(keyword) as Data[] | undefined;
    return list ? list.map((_, index) => reader.child(keyword, index)) : null;
  };
  const condition = one('if');
  const rules: Combinators = {
    anyOf: several('anyOf'),
    oneOf: several('oneOf'),
    allOf: several('allOf'),
    not: one('not'),
    dependencies: readDependencies(reader),
    condition,
    whenMet: condition ? one('then') : null,
    whenNot: condition ? one('else') : null,
  };
  return Object.values(rules).every((rule) => rule === null) ? null : rules;
}

export function checkCombinators(
  rules: Combinators,
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const { anyOf, oneOf, allOf, not, dependencies } = rules;
  if (anyOf !== null) checkAnyOf(anyOf, value, path, findings, run);
  if (oneOf !== null) checkOneOf(oneOf, value, path, findings, run);
  if (allOf !== null) checkAllOf(allOf, value, path, findings, run);
  if (not !== null && attempt(not, value, path, run).count === 0) {
    findings.add(path, 'Must not validate the schema (not)');
  }
  if (dependencies !== null && isObject(value)) checkDependencies(dependencies, value, path, findings, run);
  if (rules.condition !== null) checkCondition(rules.condition, rules, value, path, findings, run);
}

function attempt(node: SchemaNode, value: Data, path: Path | null, run: Run): Findings {
  const findings = new Findings();
  run.evaluate(node, value, path, findings, run);
  return findings;
}

function checkAnyOf(
  alternatives: readonly SchemaNode[],
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  let closest: Findings | null = null;
  let isMet = false;
  for (const alternative of alternatives) {
    const tried = attempt(alternative, value, path, run);
    if (tried.count === 0) {
      if (!run.tracks) return;
      isMet = true;
      findings.adopt(tried);
    } else closest = nearest(closest, tried);
  }
  if (isMet) return;
  findings.add(path, 'Must validate at least one schema (anyOf)');
  if (closest !== null) findings.append(closest);
}

function checkOneOf(
  alternatives: readonly SchemaNode[],
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  let closest: Findings | null = null;
  let matching = 0;
  for (const alternative of alternatives) {
    const tried = attempt(alternative, value, path, run);
    if (tried.count === 0) {
      matching += 1;
      findings.adopt(tried);
    } else closest = nearest(closest, tried);
  }
  if (matching === 1) return;
  findings.add(path, 'Must validate one and only one schema (oneOf)');
  if (matching === 0 && closest !== null) findings.append(closest);
}

function checkAllOf(
  schemas: readonly SchemaNode[],
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const before = findings.count;
  for (const schema of schemas) run.evaluate(schema, value, path, findings, run);
  if (findings.count > before) findings.add(path, 'Must validate all the schemas (allOf)');
}

function checkCondition(
  condition: SchemaNode,
  rules: Combinators,
  value: Data,
  path: Path | null,
  findings: Findings,
  run: Run,
): void {
  const tested = attempt(condition, value, path, run);
  const holds = tested.count === 0;
  if (holds) findings.adopt(tested);
  const consequence = holds ? rules.whenMet : rules.whenNot;
  if (consequence === null) return;
  const tried = attempt(consequence, value, path, run);
  if (tried.count === 0) {
    findings.adopt(tried);
    return;
  }
  findings.add(path, holds ? 'Must validate "then" as "if" was valid' : 'Must validate "else" as "if" was not valid');
  findings.append(tried);
}
