import type { Data } from '#contract';
import { isWhole, type Numeric } from './decimal.ts';

/** The type of a value as messages give it: a number without a fraction is an `integer`. */
export type Kind = 'null' | 'boolean' | 'object' | 'array' | 'number' | 'integer' | 'string';

export function kindOf(value: Data): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return isWhole(value) ? 'integer' : 'number';
    default:
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'array';
      return JSON.isRawJSON(value) ? (isWhole(value) ? 'integer' : 'number') : 'object';
  }
}

/** True for every number, exact ones included. */
export function isNumeric(value: Data): value is Numeric {
  return typeof value === 'number' || JSON.isRawJSON(value);
}
