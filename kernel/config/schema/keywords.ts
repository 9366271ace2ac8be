import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js';
import { type DataObject, findNear, isObject, type Schema } from '#contract';
import { escapePointer, fieldName } from '../../values/pointer.ts';
import { readDuration } from './duration.ts';
import { entryCount, type Problem, wrongType } from './problem.ts';

/** Parameters with which a keyword passes problems to the code that translates validator errors. */
export interface ProblemParams {
  readonly problem: Problem;
}

type Check = (value: never, context: DataValidationCxt) => readonly Problem[] | undefined;

/** Tries the branches of a choice on a value: returns the value that one of them accepts, or the problems to report. */
export type Choose = (
  branches: readonly Schema[],
  value: unknown,
  pointer: string,
) => { value: unknown } | { problems: readonly Problem[] };

/** Keywords that `toJsonSchema` uses beyond JSON Schema. */
export function keywordsOf(choose: Choose): readonly FuncKeywordDefinition[] {
  return [
    // Applies to values of any type: such a keyword runs before defaults are filled in, and sees only written keys.
    keyword('closed', closed, {}),
    // Runs after `closed`, which removes comment keys, and before defaults are filled in, so that neither are counted.
    keyword('entries', entries, {}),
    keyword('exactlyOneOf', exactlyOneOf, { type: 'object' }),
    keyword('map', () => isMap, { type: 'object' }),
    keyword('distinct', () => distinct, { type: 'array' }),
    keyword('duration', duration, { modifying: true }),
    keyword(
      'choice',
      (_schema, branches) => (value, context) => {
        const choice = choose(branchesOf(branches as readonly Schema[] | Recursive), value, context.instancePath);
        if ('problems' in choice) return choice.problems;
        (context.parentData as DataObject)[context.parentDataProperty] = choice.value as never;
        return undefined;
      },
      { modifying: true },
    ),
  ];
}

type Recursive = Extract<Schema, { readonly type: 'recursive' }>;

/** A recursive schema is a choice with one branch, resolved when a value reaches it. */
function branchesOf(branches: readonly Schema[] | Recursive): readonly Schema[] {
  return 'schema' in branches ? [branches.schema()] : branches;
}

function keyword(
  name: string,
  prepare: (parentSchema: Readonly<Record<string, unknown>>, value: unknown) => Check,
  options: Partial<FuncKeywordDefinition>,
): FuncKeywordDefinition {
  return {
    ...options,
    keyword: name,
    errors: 'full',
    compile(value: unknown, parentSchema): DataValidateFunction {
      const check = prepare(parentSchema, value);
      const validate: DataValidateFunction & Pick<SchemaValidateFunction, 'errors'> = (data, context) => {
        const problems = check(data as never, context!);
        if (!problems || problems.length === 0) return true;
        validate.errors = problems.map((problem) => ({
          keyword: name,
          instancePath: problem.pointer,
          params: { problem } satisfies ProblemParams,
        }));
        return false;
      };
      return validate;
    },
  };
}

/** Maximum number of unknown keys reported per object: each is compared with all known keys. */
const MAX_UNKNOWN = 200;

/** Rejects unknown keys and removes comment keys. */
function closed(parentSchema: Readonly<Record<string, unknown>>): Check {
  const known = new Set(Object.keys(parentSchema['properties'] as object));
  const isOpen = parentSchema['additionalProperties'] !== undefined;
  return (value: DataObject, { instancePath }) => {
    if (JSON.isRawJSON(value)) return [wrongType(instancePath, 'object', value)];
    if (!isObject(value)) return undefined;
    const problems: Problem[] = [];
    if (isOpen) return problems;
    let unknown = 0;
    for (const key of Object.keys(value)) {
      if (known.has(key)) continue;
      if (/^[@$_#]/.test(key)) delete value[key];
      else if (++unknown <= MAX_UNKNOWN) problems.push(unknownKey(instancePath, key, known, value));
    }
    if (unknown > MAX_UNKNOWN) problems.push(moreUnknown(instancePath, unknown - MAX_UNKNOWN));
    return problems;
  };
}

/** Checks the number of keys that were written. */
function entries(_schema: Readonly<Record<string, unknown>>, limits: unknown): Check {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = limits as {
    readonly minProperties?: number;
    readonly maxProperties?: number;
  };
  return (value: unknown, { instancePath: pointer }) => {
    if (!isObject(value)) return undefined;
    const { length } = Object.keys(value);
    if (length >= minProperties && length <= maxProperties) return undefined;
    const rule =
      length < minProperties ? `at least ${entryCount(minProperties)}` : `at most ${entryCount(maxProperties)}`;
    return [{ code: 'SCHEMA_RANGE', pointer, message: `'${fieldName(pointer)}' must have ${rule}` }];
  };
}

/** Requires exactly one field of every group. */
function exactlyOneOf(_schema: Readonly<Record<string, unknown>>, groups: unknown): Check {
  return (value: DataObject, { instancePath }) =>
    (groups as readonly (readonly string[])[]).flatMap((group): readonly Problem[] => {
      const written = group.filter((field) => Object.hasOwn(value, field));
      if (written.length === 1) return [];
      const names = group.map((field) => `'${field}'`).join(', ');
      const given = written.length === 0 ? 'found none' : `found ${written.map((field) => `'${field}'`).join(' and ')}`;
      return [
        {
          code: 'SCHEMA_EXACTLY_ONE',
          pointer: instancePath,
          message: `exactly one of ${names} is required in '${fieldName(instancePath)}', ${given}`,
          related: written.map((field) => `${instancePath}/${escapePointer(field)}`),
        },
      ];
    });
}

function moreUnknown(pointer: string, count: number): Problem {
  return {
    code: 'SCHEMA_UNKNOWN_KEYS',
    pointer,
    message: `${count} more unknown ${count === 1 ? 'key' : 'keys'} in '${fieldName(pointer)}'`,
  };
}

function unknownKey(parent: string, key: string, known: ReadonlySet<string>, holder: DataObject): Problem {
  const near = findNear(key, known);
  const isFree = near?.isSure && !Object.hasOwn(holder, near.name);
  return {
    code: 'SCHEMA_UNKNOWN_KEY',
    pointer: `${parent}/${escapePointer(key)}`,
    message: `unknown key '${key}' in '${fieldName(parent)}'`,
    ...(near && { hint: near.name, ...(isFree && { fix: { key: near.name } }) }),
  };
}

/** A number with many digits is represented by an object, but must not be accepted as one. */
const isMap: Check = (value: unknown, { instancePath }) =>
  JSON.isRawJSON(value) ? [wrongType(instancePath, 'object', value)] : undefined;

/** Converts `"2s"` to 2000, and anything that is not a duration to 0. */
function duration(parentSchema: Readonly<Record<string, unknown>>): Check {
  const isSecret = parentSchema['secret'] !== undefined;
  return (value: unknown, context) => {
    const milliseconds = typeof value === 'string' ? readDuration(value) : undefined;
    // A duration of zero counts as unset, so that rules report no further errors about the invalid value.
    (context.parentData as DataObject)[context.parentDataProperty] = milliseconds ?? 0;
    return milliseconds === undefined ? [wrongType(context.instancePath, 'duration', value, isSecret)] : undefined;
  };
}

/** Rejects duplicate items, in time proportional to the length of the list. */
const distinct: Check = (value: readonly unknown[], { instancePath }) => {
  if (value.length < 2) return undefined;
  const seen = new Map<string, number>();
  let problems: Problem[] | undefined;
  value.forEach((item, index) => {
    const key = typeof item === 'string' ? item : `\0${canonical(item)}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, index);
      return;
    }
    problems ??= [];
    problems.push({
      code: 'SCHEMA_DUPLICATE',
      pointer: `${instancePath}/${index}`,
      message: `'${fieldName(instancePath)}' contains ${JSON.stringify(item)} twice (first at position ${first})`,
      related: [`${instancePath}/${first}`],
    });
  });
  return problems;
};

/** JSON text with sorted keys, so that equal values give equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || JSON.isRawJSON(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
