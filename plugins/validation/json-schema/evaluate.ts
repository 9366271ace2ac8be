import type { Data, DataObject } from '#contract';
import type { Numeric } from '../../shared/values/exact-values.ts';
import { checkCombinators } from './combinators.ts';
import { checkArray, checkObject, checkProperties } from './containers.ts';
import { Findings, type Path } from './findings.ts';
import type { Run, SchemaNode } from './node.ts';
import { checkNumber } from './numbers.ts';
import { checkUnevaluated } from './unevaluated.ts';
import { checkCommon, checkString, kindOf } from './values.ts';

/** Properties of a schema that decide how it is evaluated. */
export interface ExamineOptions {
  /**
   * Whether the schema contains itself. In that case, no part of the document is checked twice against the same schema
   * that a reference leads to, because recurring alternatives would take exponential time.
   */
  readonly recursive: boolean;
  /** Whether the schema has rules for parts that no other keyword evaluates. */
  readonly tracks: boolean;
}

/**
 * Returns all violations in a document, in the order in which clients see them.
 * @throws RangeError for a document nested too deeply.
 */
export function examine(node: SchemaNode, document: Data, { recursive, tracks }: ExamineOptions): Findings {
  const findings = new Findings();
  const run: Run = { evaluate, memo: recursive ? new Map() : null, identify: null, tracks };
  evaluate(node, document, null, findings, run);
  return findings;
}

function evaluate(node: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void {
  if (node.pass === true) return;
  if (node.pass === false) {
    findings.add(path, 'False always fails validation');
    return;
  }
  if (node.unevaluated === null) {
    evaluateRules(node, value, path, findings, run);
    return;
  }
  // Each schema begins with no evaluated properties, because evaluation by the keywords of other schemas does not
  // count.
  const own = new Findings();
  evaluateRules(node, value, path, own, run);
  checkUnevaluated(node.unevaluated, value, path, own, run);
  findings.append(own);
}

function evaluateRules(node: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void {
  if (node.references !== null) {
    for (const target of node.references) follow(target, value, path, findings, run);
    if (node.bare) return;
  }
  const { type, combinators, object, array, number, string, common } = node;
  const kind = kindOf(value);
  if (type !== null && !type.accepts.has(kind)) {
    findings.add(path, type.message + kind);
    return;
  }
  if (combinators !== null) checkCombinators(combinators, value, path, findings, run);
  switch (kind) {
    case 'object':
      if (object !== null) checkObject(object, value as DataObject, path, findings, run);
      break;
    case 'array':
      if (array !== null) checkArray(array, value as Data[], path, findings, run);
      break;
    case 'number':
    case 'integer':
      if (number !== null) checkNumber(number, value as Numeric, path, findings);
  }
  if (common !== null) checkCommon(common, value, path, findings);
  if (kind === 'string' && string !== null) checkString(string, value as string, path, findings);
  if (kind === 'object' && object !== null) checkProperties(object, value as DataObject, path, findings, run);
  // The score is one point for each stage passed: combinators, common rules, the value, and the rules of its type if it
  // has any.
  findings.score += kind === 'null' || kind === 'boolean' ? 3 : 4;
}

function follow(target: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void {
  const { memo } = run;
  if (memo === null || typeof value !== 'object' || value === null) {
    evaluate(target, value, path, findings, run);
    return;
  }
  let known = memo.get(value);
  if (known === undefined) {
    known = new Map();
    memo.set(value, known);
  }
  let inner = known.get(target);
  if (inner === undefined) {
    inner = new Findings();
    evaluate(target, value, path, inner, run);
    known.set(target, inner);
  }
  findings.append(inner);
}
