/** Longest text that is parsed as a number, in bytes, including surrounding space. */
export const MAX_NUMERAL_BYTES = 1024;

/** Integers from here on are no longer written with all their digits. */
const MAX_WHOLE = 2 ** 63;
/** Significant digits of a number with a fraction, as with `%.14g`. */
const DIGITS = 14;

/**
 * Formats a number as Lua 5.1 does: 14 digits. Integers keep all digits, so that an identifier inserted into an address
 * is unchanged.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Number.isSafeInteger(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < MAX_WHOLE) return BigInt(value).toString();
  return generalText(value, DIGITS, false);
}

/**
 * Formats as `%g` in C.
 * @param digits significant digits, from 1. @param keepsZeros keeps trailing zeros.
 */
export function generalText(value: number, digits: number, keepsZeros: boolean): string {
  const [mantissa = '', exponent = ''] = exponentialText(value, digits - 1).split('e');
  const power = Number(exponent);
  if (power < -4 || power >= digits) return `${keepsZeros ? mantissa : shortened(mantissa)}e${exponent}`;
  const fixed = fixedText(value, digits - 1 - power);
  return keepsZeros ? fixed : shortened(fixed);
}

function shortened(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Formats as `%e` in C: rounded from the exact value, halves to the even digit; at least two digits in the exponent. */
export function exponentialText(value: number, decimals: number): string {
  let power = value === 0 ? 0 : Number(/e(.*)$/.exec(value.toExponential())![1]);
  let digits = scaled(value, decimals - power);
  // Adjusts the number of digits: rounding may add one, and the shortest representation may have one less.
  if (value !== 0 && digits.length !== decimals + 1) {
    power += digits.length - decimals - 1;
    digits = scaled(value, decimals - power);
  }
  const sign = isNegative(value) ? '-' : '';
  const fraction = decimals > 0 ? `.${digits.slice(1).padEnd(decimals, '0')}` : '';
  return `${sign}${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Formats as `%f` in C. */
export function fixedText(value: number, decimals: number): string {
  const digits = scaled(value, decimals).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return `${isNegative(value) ? '-' : ''}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ''}`;
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

const view = new DataView(new ArrayBuffer(8));

/** The digits of `|value| * 10 ** power`, rounded to an integer, halves to the even one. */
function scaled(value: number, power: number): string {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const raised = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const two = (raised === 0n ? 1n : raised) - 1075n;
  let above = raised === 0n ? fraction : fraction | (1n << 52n);
  let below = 1n;
  if (two >= 0n) above <<= two;
  else below <<= -two;
  if (power >= 0) above *= 10n ** BigInt(power);
  else below *= 10n ** BigInt(-power);
  const quotient = above / below;
  const twice = (above % below) * 2n;
  const isUp = twice > below || (twice === below && quotient % 2n === 1n);
  return String(isUp ? quotient + 1n : quotient);
}
