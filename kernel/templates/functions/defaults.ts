import { Failure } from '../budget.ts';
import { areSame } from '../compare.ts';
import { type Functions, fn } from '../function.ts';
import { isTrue, kindOf, typeOf } from '../value.ts';

/** Functions that choose between values, and functions that test values. */
export const defaultFunctions: Functions = {
  default: fn('any any...', (otherwise, ...[value]) => (isTrue(value) ? value : otherwise)),
  empty: fn('any', (value) => !isTrue(value)),
  coalesce: fn('any...', (...values) => values.find(isTrue) ?? null),
  all: fn('any...', (...values) => values.every(isTrue)),
  any: fn('any...', (...values) => values.some(isTrue)),
  ternary: fn('any any bool', (one, other, condition) => (condition ? one : other)),
  fail: fn('string', (reason) => {
    throw new Failure(reason);
  }),
  typeOf: fn('any', typeOf),
  typeIs: fn('string any', (type, value) => typeOf(value) === type),
  typeIsLike: fn('string any', (type, value) => typeOf(value) === type || `*${type}` === typeOf(value)),
  kindOf: fn('any', kindOf),
  kindIs: fn('string any', (kind, value) => kindOf(value) === kind),
  deepEqual: fn('any any', (one, other) => areSame(one, other)),
};
