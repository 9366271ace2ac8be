import { parseExact, type RawNumber } from '#contract';

const decimal = /^([-+]?)0*(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;
const integer = /^[-+]?(?:\d+|0o[0-7]+|0x[0-9a-fA-F]+)$/;

/** Most digits of an octal or hexadecimal number: converting them to decimal takes more than linear time. */
const MAX_DIGITS = 1000;

/**
 * A YAML number, with its original digits if a JavaScript number cannot represent them.
 * @returns null for infinities, for values that are not numbers and for more than 1,000 octal or hexadecimal digits.
 */
export function exactNumber(value: number, source: string): number | RawNumber | null {
  if (Number.isSafeInteger(value) && integer.test(source)) return value;
  const match = decimal.exec(source);
  if (!match) {
    if (integer.test(source)) return source.length > MAX_DIGITS ? null : JSON.rawJSON(BigInt(source).toString());
    return Number.isFinite(value) ? value : null;
  }
  const [, sign, whole, fraction, exponent] = match;
  const text = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${exponent ? `e${exponent}` : ''}`;
  return parseExact(text) as number | RawNumber;
}
