import { ConfigError, isObject, type Schema } from '#contract';
import { joinPointer, parentPointer } from '../../values/pointer.ts';
import { cloneData } from '../plain-data.ts';
import { equivalent } from './equivalent.ts';
import type { Check, Finding } from './finding.ts';
import { checkList } from './list-check.ts';
import { checkObject } from './object-check.ts';
import { type Place, pointerOf, subjectName } from './place.ts';
import { showValue, typeName } from './problem.ts';
import { checkBoolean, checkDuration, checkNumber, checkString } from './scalar-checks.ts';

/** What a validator says of a value. */
export interface Evaluation {
  readonly value: unknown;
  readonly errors: ConfigError[];
  /** Pointers of objects without a key they must have; the errors may tell only how that key is misspelled. */
  readonly lacking: readonly string[];
}

/**
 * Checks a value and returns it with defaults filled in, durations as milliseconds and comment keys gone. The value
 * given may be changed. With errors, what comes back is not to be used.
 *
 * Codes: SCHEMA_TYPE, SCHEMA_ENUM, SCHEMA_REQUIRED, SCHEMA_UNKNOWN_KEY, SCHEMA_PATTERN, SCHEMA_RANGE,
 * SCHEMA_DUPLICATE, SCHEMA_CHOICE, SCHEMA_EXACTLY_ONE, DURATION_INVALID.
 */
export type Validate = (value: unknown, pointer: string) => Evaluation;

const validators = new WeakMap<Schema, Validate>();
const checks = new WeakMap<Schema, Check>();

/**
 * The validator of a schema; its checks are put together at its first use, once for every schema object.
 *
 * Schemas are known to be of the subset, so that functions over it do what a general validator does for a tenth of its start.
 */
export function compileSchema(schema: Schema): Validate {
  let validate = validators.get(schema);
  if (!validate) {
    validate = (value, pointer) => evaluate(schema, value, { holder: null, key: pointer });
    validators.set(schema, validate);
  }
  return validate;
}

function evaluate(schema: Schema, value: unknown, place: Place): Evaluation {
  const findings: Finding[] = [];
  const checked = checkOf(schema)(value, place, findings);
  const lacking = findings.flatMap(({ missing }) => missing?.holder ?? []);
  const errors = withoutEchoes(findings).map(
    ({ code, pointer, message, missing: _, ...rest }) => new ConfigError(code, pointer, message, rest),
  );
  return { value: checked, errors, lacking };
}

/** Leaves out that a key is missing where another one is told to be a misspelling of it. */
function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const meant = new Set<string>();
  for (const { code, pointer, hint } of findings) {
    if (code === 'SCHEMA_UNKNOWN_KEY' && hint !== undefined) meant.add(joinPointer(parentPointer(pointer), hint));
  }
  if (meant.size === 0) return findings;
  return findings.filter(({ missing }) => !missing || !meant.has(joinPointer(missing.holder, missing.key)));
}

function checkOf(schema: Schema): Check {
  let check = checks.get(schema);
  if (!check) {
    check = compile(schema);
    checks.set(schema, check);
  }
  return check;
}

/** @throws Error where the schema is none. */
function compile(schema: Schema): Check {
  if ('anyOf' in schema) return checkChoice(() => schema.anyOf);
  switch (schema.type) {
    case 'any':
      return (value) => value;
    case 'string':
      return checkString(schema);
    case 'integer':
    case 'number':
      return checkNumber(schema);
    case 'boolean':
      return checkBoolean(schema);
    case 'duration':
      return checkDuration(schema);
    case 'array':
      return checkList(schema, checkOf(schema.items));
    case 'object':
      return checkObject(schema, checkOf);
    case 'recursive':
      // A choice of one, looked at when a value gets there.
      return checkChoice(() => [schema.schema()]);
    default:
      throw new Error(`a schema has the type ${JSON.stringify((schema as { type?: unknown }).type)}, which is none`);
  }
}

/** Takes the first branch that accepts a copy of the value; else reports the branch that came nearest. */
function checkChoice(branchesOf: () => readonly Schema[]): Check {
  return (value, place, findings) => {
    const branches = branchesOf();
    let best: readonly Finding[] | undefined;
    for (const branch of branches) {
      const attempt: Finding[] = [];
      const checked = checkOf(branch)(cloneData(value), place, attempt);
      if (attempt.length === 0) return checked;
      const told = withoutEchoes(attempt);
      if (fitsType(branch, value) && (!best || told.length < best.length)) best = told;
    }
    for (const { missing: _, ...problem } of best ?? [noneOf(branches, value, pointerOf(place))])
      findings.push(problem);
    return value;
  };
}

function noneOf(branches: readonly Schema[], value: unknown, pointer: string): Finding {
  const types = [...new Set(branches.map((branch) => ('anyOf' in branch ? 'another value' : typeName(branch.type))))];
  const message = `${subjectName(pointer)} must be ${types.join(' or ')}, found ${showValue(value)}`;
  const better = branches.map((branch) => ('type' in branch ? equivalent(branch.type, value) : undefined));
  const [meant] = better.filter((match) => match !== undefined);
  const hint = meant === undefined ? {} : { hint: JSON.stringify(meant), fix: { value: meant } };
  return { code: 'SCHEMA_CHOICE', pointer, message, ...hint };
}

function fitsType(branch: Schema, value: unknown): boolean {
  if ('anyOf' in branch) return branch.anyOf.some((inner) => fitsType(inner, value));
  switch (branch.type) {
    case 'recursive':
      return fitsType(branch.schema(), value);
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'duration':
      return typeof value === 'string';
    case 'integer':
      return typeof value === 'number';
    default:
      return typeof value === branch.type;
  }
}
