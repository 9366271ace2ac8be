import { Failure } from './budget.ts';
import type { Run } from './run.ts';
import { type Dict, describe, integerOf, isList, isMap, isRawNumber, type List, type Value } from './value.ts';

/** A function of templates. */
export interface TemplateFunction {
  /** Minimum and maximum number of arguments. */
  readonly fewest: number;
  readonly most: number;
  /** Reason why templates may not call it, reported when the template is compiled. */
  readonly refusal?: string;
  /** @throws Failure for arguments of a wrong type, and when the function itself fails. */
  readonly call: (args: readonly Value[], run: Run) => Value;
}

export type Functions = Readonly<Record<string, TemplateFunction>>;

/** Types of parameters; the last one of a function may repeat: `any...`. */
interface Parameters {
  readonly any: Value;
  readonly string: string;
  /** An integer, or a number without a fraction, within JavaScript's safe range. */
  readonly int: number;
  readonly bool: boolean;
  readonly list: List;
  readonly map: Dict;
}

type Type = keyof Parameters;

type Arguments<Signature extends string> = Signature extends ''
  ? []
  : Signature extends `${infer First extends Type} ${infer Rest}`
    ? [Parameters[First], ...Arguments<Rest>]
    : Signature extends `${infer Last extends Type}...`
      ? Parameters[Last][]
      : Signature extends `${infer Only extends Type}`
        ? [Parameters[Only]]
        : never;

/**
 * Declares a function.
 * @param signature types of its parameters, as in `int string` or `string any...`.
 */
export function fn<const Signature extends string>(
  signature: Signature,
  call: (...args: Arguments<Signature>) => Value,
): TemplateFunction {
  return bounded(signature, (_run, ...args) => call(...args));
}

/**
 * Declares a function like `fn`, for functions whose output can be much larger than their input, or that format
 * numbers: they consume the budget of the execution.
 */
export function bounded<const Signature extends string>(
  signature: Signature,
  call: (run: Run, ...args: Arguments<Signature>) => Value,
): TemplateFunction {
  const types = signature === '' ? [] : (signature.replace('...', '').split(' ') as Type[]);
  const isOpen = signature.endsWith('...');
  const last = types.length - 1;
  const convert = types.map((type) => readers[type]);
  const given = call as (run: Run, ...args: unknown[]) => Value;
  return {
    fewest: isOpen ? last : types.length,
    most: isOpen ? Number.POSITIVE_INFINITY : types.length,
    call: (args, run) => given(run, ...args.map((value, index) => convert[Math.min(index, last)]!(value, index))),
  };
}

const readers: { readonly [T in Type]: (value: Value, index: number) => Parameters[T] } = {
  any: (value) => value,
  string: (value, index) => (typeof value === 'string' ? value : wrong(value, index, 'a string')),
  int: (value, index) => {
    const number = isRawNumber(value) ? Number(value.rawJSON) : typeof value === 'number' ? value : integerOf(value);
    const integer = Number(number);
    return number !== undefined && Number.isSafeInteger(integer) ? integer : wrong(value, index, 'an integer');
  },
  bool: (value, index) => (typeof value === 'boolean' ? value : wrong(value, index, 'a boolean')),
  list: (value, index) => (isList(value) ? value : wrong(value, index, 'a list')),
  map: (value, index) => (isMap(value) ? value : wrong(value, index, 'a map')),
};

function wrong(value: Value, index: number, expected: string): never {
  throw new Failure(`argument ${index + 1} must be ${expected}, found ${describe(value)}`);
}
