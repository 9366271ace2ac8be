import { parseExact, type RawNumber } from '#contract';

const decimal = /^([-+]?)0*(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;
const integer = /^[-+]?(?:\d+|0o[0-7]+|0x[0-9a-fA-F]+)$/;

/**
 * A YAML number with the digits it was written with where a JavaScript number cannot hold them.
 * @returns null for infinities and for what is not a number.
 */
export function exactNumber(value: number, source: string): number | RawNumber | null {
  if (Number.isSafeInteger(value) && integer.test(source)) return value;
  const parts = decimal.exec(source);
  if (!parts) {
    if (integer.test(source)) return JSON.rawJSON(BigInt(source).toString());
    return Number.isFinite(value) ? value : null;
  }
  const [, sign, whole, fraction, exponent] = parts;
  const text = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${exponent ? `e${exponent}` : ''}`;
  return parseExact(text) as number | RawNumber;
}
