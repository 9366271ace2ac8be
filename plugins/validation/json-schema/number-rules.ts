import { type Data, printJson } from '#contract';
import { compareNumbers, isMultiple, type Numeric } from './decimal.ts';
import type { Findings, Path } from './findings.ts';
import type { SchemaReader } from './node.ts';

export interface NumberRules {
  readonly multipleOf: Numeric | null;
  readonly maximum: Numeric | null;
  readonly exclusiveMaximum: Numeric | null;
  readonly minimum: Numeric | null;
  readonly exclusiveMinimum: Numeric | null;
}

/** Reads both forms of the exclusive limits: a number of their own, or the word that `minimum` or `maximum` is one. */
export function readNumberRules(reader: SchemaReader): NumberRules | null {
  const multipleOf = numeric(reader.get('multipleOf'));
  const [minimum, exclusiveMinimum] = readLimit(reader, 'minimum', 'exclusiveMinimum');
  const [maximum, exclusiveMaximum] = readLimit(reader, 'maximum', 'exclusiveMaximum');
  const rules = { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum };
  return Object.values(rules).every((rule) => rule === null) ? null : rules;
}

function readLimit(reader: SchemaReader, inclusive: string, exclusive: string): [Numeric | null, Numeric | null] {
  const limit = numeric(reader.get(inclusive));
  const mark = reader.get(exclusive);
  if (typeof mark !== 'boolean') return [limit, numeric(mark)];
  if (!mark) return [limit, null];
  if (limit === null) throw reader.fault(`must stand beside ${inclusive}`, exclusive);
  return [null, limit];
}

function numeric(value: Data | undefined): Numeric | null {
  return value === undefined ? null : (value as Numeric);
}

export function checkNumber(rules: NumberRules, value: Numeric, path: Path | null, findings: Findings): void {
  const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = rules;
  if (multipleOf !== null && !isMultiple(value, multipleOf)) {
    findings.add(path, `Must be a multiple of ${printJson(multipleOf)}`);
  }
  if (maximum !== null && compareNumbers(value, maximum) > 0) {
    findings.add(path, `Must be less than or equal to ${printJson(maximum)}`);
  }
  if (exclusiveMaximum !== null && compareNumbers(value, exclusiveMaximum) >= 0) {
    findings.add(path, `Must be less than ${printJson(exclusiveMaximum)}`);
  }
  if (minimum !== null && compareNumbers(value, minimum) < 0) {
    findings.add(path, `Must be greater than or equal to ${printJson(minimum)}`);
  }
  if (exclusiveMinimum !== null && compareNumbers(value, exclusiveMinimum) <= 0) {
    findings.add(path, `Must be greater than ${printJson(exclusiveMinimum)}`);
  }
}
