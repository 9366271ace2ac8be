import { type Data, isObject, type RawNumber } from '#contract';

/** A value without parts. */
export type Scalar = null | boolean | number | string | RawNumber;

export function isScalar(value: Data): value is Scalar {
  return !Array.isArray(value) && !isObject(value);
}

/** The text of a scalar: numbers with the digits they came with, nothing for null. */
export function scalarText(value: Scalar): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? value.rawJSON : String(value);
}
