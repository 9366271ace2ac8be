/** Longest text that is read as a number, in bytes, with the space around it. */
export const MAX_NUMERAL_BYTES = 1024;

/** From here on whole numbers are no longer written with all their digits. */
const MAX_WHOLE = 2 ** 63;
/** Significant digits of a number with a fraction, as of `%.14g`. */
const DIGITS = 14;

/**
 * A number as Lua 5.1 turns it into a text: 14 digits. Whole numbers keep all of theirs, so that an identifier that is
 * put into an address stays what it is.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Number.isSafeInteger(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < MAX_WHOLE) return BigInt(value).toString();
  return generalText(value, DIGITS, false);
}

/**
 * As of `%g` in C.
 * @param digits significant ones, from 1. @param keepsZeros behind the last other digit.
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

/** As of `%e` in C: rounded from the exact value, halves to the even digit; two digits of the exponent at least. */
export function exponentialText(value: number, decimals: number): string {
  let power = value === 0 ? 0 : Number(/e(.*)$/.exec(value.toExponential())![1]);
  let digits = scaled(value, decimals - power);
  // What is rounded may have one digit more than its own, and what the shortest text is of may have one less.
  if (value !== 0 && digits.length !== decimals + 1) {
    power += digits.length - decimals - 1;
    digits = scaled(value, decimals - power);
  }
  const sign = isNegative(value) ? '-' : '';
  const fraction = decimals > 0 ? `.${digits.slice(1).padEnd(decimals, '0')}` : '';
  return `${sign}${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** As of `%f` in C. */
export function fixedText(value: number, decimals: number): string {
  const digits = scaled(value, decimals).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return `${isNegative(value) ? '-' : ''}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ''}`;
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

const view = new DataView(new ArrayBuffer(8));

/** The digits of `|value| * 10 ** power`, rounded to a whole number, halves to the even one. */
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
