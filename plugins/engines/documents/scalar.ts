import { type Data, isObject, type RawNumber } from '#contract';

/** A value without members. */
export type Scalar = null | boolean | number | string | RawNumber;

export function isScalar(value: Data): value is Scalar {
  return !Array.isArray(value) && !isObject(value);
}

/** Formats a scalar as text: numbers keep their original digits, null is empty. */
export function scalarText(value: Scalar): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? value.rawJSON : String(value);
}
