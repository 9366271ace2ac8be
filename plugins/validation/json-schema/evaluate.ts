import type { Data, DataObject } from '#contract';
import { checkArray, checkObject, checkProperties } from './containers.ts';
import { checkNumber, type Numeric } from './numbers.ts';
import { kindOf, type Run, type SchemaNode } from './schema.ts';
import { checkCombinators } from './validator.ts';
import { checkCommon, checkString } from './values.ts';

/**
 * Everything that is wrong with a document, in the order in which it is told to clients.
 * @param recursive the schema contains itself: then no part of the document is checked twice against the same target of
 *   a reference, or alternatives that recur would take exponential time.
 * @throws RangeError for a document nested too deeply.
 */
export function examine(node: SchemaNode, document: Data, recursive: boolean): Findings {
  const findings = new Findings();
  const run: Run = { evaluate, memo: recursive ? new Map() : null, identify: null };
  evaluate(node, document, null, findings, run);
  return findings;
}

function evaluate(node: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void {
  if (node.pass === true) return;
  if (node.pass === false) {
    findings.add(path, 'False always fails validation');
    return;
  }
  if (node.ref !== null) {
    follow(node.ref, value, path, findings, run);
    return;
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
  // One for each stage passed: combinators, common rules, the value, and its own type's rules where there are any.
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
  let part = known.get(target);
  if (part === undefined) {
    part = new Findings();
    evaluate(target, value, path, part, run);
    known.set(target, part);
  }
  findings.append(part);
}

/** Where a value stands in the document: the key or array position under its parent. Null is the root. */
export interface Path {
  readonly parent: Path | null;
  readonly key: string | number;
}

interface Violation {
  readonly path: Path | null;
  readonly message: string;
}

/** Violations kept by one `Findings`; further ones are only counted, so that no body can fill the memory. */
const KEPT_LIMIT = 10_000;
/** Length of the written lines, in UTF-16 units: a small body nested deeply has long locations. */
const TEXT_LIMIT = 1024 * 1024;

/** What is wrong with one value, in order, and how near it comes to its schema. */
export class Findings {
  /** Number of violations; 0 for a valid value. */
  count = 0;
  /** The higher, the nearer: checks passed add one, violations take two. */
  score = 0;
  #entries: (Violation | Findings)[] = [];

  add(path: Path | null, message: string): void {
    this.count += 1;
    this.score -= 2;
    if (this.#entries.length < KEPT_LIMIT) this.#entries.push({ path, message });
  }

  /** Takes over the violations and the score of a part. */
  append(part: Findings): void {
    this.count += part.count;
    this.score += part.score;
    if (part.count > 0 && this.#entries.length < KEPT_LIMIT) this.#entries.push(part);
  }

  /**
   * The violations as text, one line each: `- <location>: <message>`. Beyond ten thousand lines or a mebibyte the last
   * line tells that there are more.
   */
  text(): string {
    const lines: string[] = [];
    const complete = this.#write(lines, { length: 0 });
    if (!complete || lines.length < this.count) lines.push('- (root): More violations are not listed');
    return lines.join('\n');
  }

  #write(lines: string[], written: { length: number }): boolean {
    for (const entry of this.#entries) {
      if (lines.length >= KEPT_LIMIT || written.length >= TEXT_LIMIT) return false;
      if (entry instanceof Findings) {
        if (!entry.#write(lines, written)) return false;
      } else {
        const line = `- ${locate(entry.path)}: ${entry.message}`;
        written.length += line.length;
        lines.push(line);
      }
    }
    return true;
  }
}

/** The dotted location of a value, as in `items.0.name`; `(root)` for the whole document. */
export function locate(path: Path | null): string {
  if (path === null) return '(root)';
  const keys: (string | number)[] = [];
  for (let step: Path | null = path; step !== null; step = step.parent) keys.push(step.key);
  return keys.reverse().join('.');
}
