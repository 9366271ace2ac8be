import type { ErrorObject, ValidateFunction } from 'ajv';
import { ConfigError, type Data, type DataObject, findNear, isObject, type Near, type Schema } from '#contract';
import { fieldName, joinPointer, parentPointer, parsePointer } from '../../values/pointer.ts';
import { cloneData } from '../normalize/plain-data.ts';
import { ajvCheck } from './ajv-check.ts';
import { builtCheck } from './built-check.ts';
import { equivalent } from './equivalent.ts';
import type { Choose, ProblemParams } from './keywords.ts';
import { entryCount, type Problem, showValue, typeName, wrongType } from './problem.ts';
import { type JsonSchema, toJsonSchema } from './schema.ts';

/** Result of validating a value. */
export interface Evaluation {
  readonly value: unknown;
  readonly errors: ConfigError[];
  /** Pointers of objects without a required key; the errors may report only that the key is misspelled. */
  readonly lacking: readonly string[];
}

/**
 * Checks a value and returns it with defaults filled in, durations as milliseconds and comment keys removed. The given
 * value may be modified. If there are errors, the returned value must not be used.
 *
 * Codes: SCHEMA_TYPE, SCHEMA_ENUM, SCHEMA_REQUIRED, SCHEMA_UNKNOWN_KEY, SCHEMA_PATTERN, SCHEMA_RANGE, SCHEMA_DUPLICATE,
 * SCHEMA_CHOICE, SCHEMA_EXACTLY_ONE, DURATION_INVALID.
 */
export type Validate = (value: unknown, pointer: string) => Evaluation;

/** Key under which the validator holds the value; never shown in messages. */
const SELF = '\0';

/** Creates the check of a value that is wrapped in a field, so that a default at the top level can be assigned. */
export type MakeCheck = (schema: JsonSchema, choose: Choose) => ValidateFunction;

/** Validator of a schema; created on first use, once per schema object. */
export const compileSchema = schemaCompiler((schema, choose) => builtCheck(schema, choose) ?? ajvCheck(schema, choose));

/** Schema of the object that wraps the value. */
export function holderSchema(schema: Schema): JsonSchema {
  return { type: 'object', properties: { [SELF]: toJsonSchema(schema) } };
}

/** Creates a schema compiler that uses the given check factory. */
export function schemaCompiler(makeCheck: MakeCheck): (schema: Schema) => Validate {
  const compiled = new WeakMap<object, Validate>();
  const compile = (schema: Schema): Validate => {
    let validate = compiled.get(schema);
    if (!validate) {
      validate = validatorOf(() => makeCheck(holderSchema(schema), choose));
      compiled.set(schema, validate);
    }
    return validate;
  };
  const choose: Choose = (branches, value, pointer) => chooseBranch(branches, value, pointer, compile);
  return compile;
}

function validatorOf(makeCheck: () => ValidateFunction): Validate {
  let check: ValidateFunction | undefined;
  return (value, pointer) => {
    check ??= makeCheck();
    const holder: DataObject = { [SELF]: value as never };
    if (check(holder)) return { value: holder[SELF], errors: [], lacking: [] };
    const faults = check.errors!;
    const problems = withoutEchoes(faults).flatMap((fault) => translate(fault, holder) ?? []);
    const lacking = faults.filter(({ keyword }) => keyword === 'required');
    const errors = problems.map(
      ({ code, pointer: inner, message, related = [], ...rest }) =>
        new ConfigError(code, placed(inner, pointer), reword(message, pointer), {
          ...rest,
          related: related.map((place) => placed(place, pointer)),
        }),
    );
    return { value: holder[SELF], errors, lacking: lacking.map(({ instancePath }) => placed(instancePath, pointer)) };
  };
}

/** Drops errors about a missing key if a misspelled key was reported that resembles it. */
function withoutEchoes(faults: readonly ErrorObject[]): readonly ErrorObject[] {
  const meant = new Set<string>();
  for (const { params } of faults) {
    const { code, pointer, hint } = (params as Partial<ProblemParams>).problem ?? {};
    if (code === 'SCHEMA_UNKNOWN_KEY' && hint !== undefined) meant.add(joinPointer(parentPointer(pointer!), hint));
  }
  const isEcho = ({ keyword, instancePath, params }: ErrorObject) =>
    keyword === 'required' && meant.has(joinPointer(instancePath, params['missingProperty']));
  return meant.size === 0 ? faults : faults.filter((fault) => !isEcho(fault));
}

/** @param inner pointer relative to the holder. */
function placed(inner: string, pointer: string): string {
  return pointer + inner.slice(SELF.length + 1);
}

/** Replaces the internal name of the value in a message with the last step of its pointer. */
function reword(message: string, pointer: string): string {
  if (!message.includes(SELF)) return message;
  return pointer === ''
    ? message.replace(` in '${SELF}'`, '').replace(`'${SELF}'`, 'the document')
    : message.replace(SELF, fieldName(pointer));
}

/** @returns undefined if the value turns out to be acceptable, or if another error reports the same. */
function translate(error: ErrorObject, holder: DataObject): Problem | undefined {
  if (error.params && 'problem' in error.params) return (error.params as ProblemParams).problem;
  // The validator cannot assign defaults to a number with many digits, which is an object; its wrong type is reported
  // as an error of its own.
  if (error.data === undefined) return undefined;
  const { keyword, instancePath: pointer, data } = error;
  const limit = error.schema as unknown;
  const secret = (error.parentSchema as Pick<Schema, 'secret'> | undefined)?.secret !== undefined;
  const name = `'${fieldName(pointer)}'`;
  const given = `found ${showValue(data, secret)}`;
  const range = (rule: string): Problem => ({
    code: 'SCHEMA_RANGE',
    pointer,
    message: `${name} must ${rule}, ${given}`,
  });
  switch (keyword) {
    case 'type':
      if (JSON.isRawJSON(data)) return takeExactNumber(error, holder);
      return withChoice(wrongType(pointer, String(limit), data, secret, itemType(error)), error);
    case 'required': {
      if (JSON.isRawJSON(data)) return undefined;
      const missing = String(error.params['missingProperty']);
      const problem = { code: 'SCHEMA_REQUIRED', pointer, message: `'${missing}' is missing in ${name}` };
      return { ...problem, ...misspelling(missing, error) };
    }
    case 'enum':
      if (typeof data !== typeof (limit as readonly unknown[])[0]) return undefined;
      return wrongChoice(error, secret);
    case 'pattern':
      return { code: 'SCHEMA_PATTERN', pointer, message: `${name} must match ${limit}, ${given}`, ...example(error) };
    case 'minLength':
      return range(limit === 1 ? 'not be empty' : `have at least ${limit} characters`);
    case 'minItems':
      return { code: 'SCHEMA_RANGE', pointer, message: `${name} must have at least ${entryCount(Number(limit))}` };
    case 'maxItems':
      return { code: 'SCHEMA_RANGE', pointer, message: `${name} must have at most ${entryCount(Number(limit))}` };
    case 'minimum':
      return range(`be ${limit} or more`);
    case 'exclusiveMinimum':
      return range(`be more than ${limit}`);
    case 'maximum':
      return range(`be ${limit} or less`);
    default:
      return { code: 'SCHEMA_TYPE', pointer, message: `${name} is not valid: ${given}` };
  }
}

/** Error for a missing key whose misspelling was accepted because any key is allowed there. */
function misspelling(missing: string, { data, instancePath, parentSchema }: ErrorObject): Partial<Problem> {
  const { additionalProperties: isOpen, properties = {} } = parentSchema as {
    readonly additionalProperties?: unknown;
    readonly properties?: object;
  };
  if (!isOpen) return {};
  const others = Object.keys(data as DataObject).filter((key) => !Object.hasOwn(properties, key));
  const near = findNear(missing, others);
  if (!near) return {};
  const pointer = joinPointer(instancePath, near.name);
  return { pointer, hint: missing, ...(near.isSure ? { fix: { key: missing } } : { ofKey: true }) };
}

function example(error: ErrorObject): { hint?: string } {
  const examples = (error.parentSchema as { examples?: readonly unknown[] }).examples;
  return examples?.length ? { hint: String(examples[0]) } : {};
}

function itemType({ parentSchema }: ErrorObject): string | undefined {
  return (parentSchema as { items?: { type?: string } } | undefined)?.items?.type;
}

function wrongChoice({ instancePath: pointer, schema, data }: ErrorObject, isSecret: boolean): Problem {
  const allowed = (schema as readonly unknown[]).map(String);
  const choices = allowed.length === 1 ? allowed[0] : `one of ${allowed.join(', ')}`;
  const near = typeof data === 'string' && !isSecret ? meantChoice(data, allowed) : undefined;
  const message = `'${fieldName(pointer)}' must be ${choices}, found ${showValue(data, isSecret)}`;
  return {
    code: 'SCHEMA_ENUM',
    pointer,
    message,
    ...(near && { hint: near.name, ...(near.isSure && { fix: { value: near.name as Data } }) }),
  };
}

/** Adds a suggestion for a number where a word is expected: the choice that contains the number. */
function withChoice(problem: Problem, { data, parentSchema }: ErrorObject): Problem {
  const { enum: choices = [] } = (parentSchema ?? {}) as { enum?: readonly unknown[] };
  const near = typeof data === 'number' ? meantChoice(String(data), choices.map(String)) : undefined;
  return near ? { ...problem, hint: near.name } : problem;
}

/** The closest choice, or the only one that ends with the same letters and digits: `TLS12` for `TLSv1.2` or `1.2`. */
function meantChoice(text: string, choices: readonly string[]): Near | undefined {
  const near = findNear(text, choices) ?? findNear(text.replace(/[^a-z\d]/gi, ''), choices);
  if (near) return near;
  const bare = text.toLowerCase().replaceAll(/[^a-z\d]/g, '');
  const [only, ...others] = choices.filter((choice) => bare !== '' && choice.toLowerCase().endsWith(bare));
  return only !== undefined && others.length === 0 ? { name: only, isSure: false } : undefined;
}

interface NumberLimits {
  readonly enum?: readonly number[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** Accepts numbers with more digits than JavaScript preserves wherever the schema expects a number. */
function takeExactNumber(error: ErrorObject, holder: DataObject): Problem | undefined {
  const limits = error.parentSchema as NumberLimits;
  const type = String(error.schema);
  const value = Number((error.data as { rawJSON: string }).rawJSON);
  const fits = type === 'integer' ? Number.isSafeInteger(value) : type === 'number' && Number.isFinite(value);
  if (!fits) return wrongType(error.instancePath, type, error.data);
  if (limits.enum && !limits.enum.includes(value)) {
    return wrongChoice({ ...error, schema: limits.enum, data: value }, false);
  }
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = limits;
  if (value < minimum || value <= exclusiveMinimum || value > maximum) {
    const message = `'${fieldName(error.instancePath)}' is out of range, found ${showValue(error.data)}`;
    return { code: 'SCHEMA_RANGE', pointer: error.instancePath, message };
  }
  const steps = parsePointer(error.instancePath);
  const last = steps.pop()!;
  let parent: DataObject = holder;
  for (const step of steps) parent = parent[step] as DataObject;
  parent[last] = value;
  return undefined;
}

/** Uses the first branch that accepts a copy of the value; otherwise reports the branch that came closest. */
function chooseBranch(
  branches: readonly Schema[],
  value: unknown,
  pointer: string,
  compile: (schema: Schema) => Validate,
): ReturnType<Choose> {
  let best: readonly ConfigError[] | undefined;
  for (const branch of branches) {
    const attempt = compile(branch)(cloneData(value), pointer);
    if (attempt.errors.length === 0) return { value: attempt.value };
    const isOfThatType = fitsType(branch, value);
    if (isOfThatType && (!best || attempt.errors.length < best.length)) best = attempt.errors;
  }
  if (best) return { problems: best };
  const types = [...new Set(branches.map((branch) => ('anyOf' in branch ? 'another value' : typeName(branch.type))))];
  const message = `'${fieldName(pointer)}' must be ${types.join(' or ')}, found ${showValue(value)}`;
  const better = branches.map((branch) => ('type' in branch ? equivalent(branch.type, value) : undefined));
  const [meant] = better.filter((match) => match !== undefined);
  const hint = meant === undefined ? {} : { hint: JSON.stringify(meant), fix: { value: meant } };
  return { problems: [{ code: 'SCHEMA_CHOICE', pointer, message, ...hint }] };
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
