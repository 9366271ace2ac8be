import { decimal, goExponent, shortFloat } from './print.ts';

/** Maximum precision, in digits; a limit of Node.js. */
export const MAX_PRECISION = 100;

/** Formats a number by one of Go's verbs: `e`, `f`, `g` and their capitals. @param precision undefined if not given. */
export function formatFloat(value: number, verb: string, precision: number | undefined, keepsZeros = false): string {
  if (!Number.isFinite(value)) return shortFloat(value);
  const text = styles[verb.toLowerCase()]!(value, precision, keepsZeros);
  return verb === verb.toUpperCase() ? text.toUpperCase() : text;
}

const styles: Readonly<Record<string, (value: number, precision: number | undefined, keepsZeros: boolean) => string>> =
  {
    f: (value, precision = 6) => fixed(value, precision),
    e: (value, precision = 6) => {
      const [mantissa, exponent] = exponential(value, precision);
      return `${mantissa}e${goExponent(exponent)}`;
    },
    g: (value, precision, keepsZeros) =>
      precision === undefined ? shortFloat(value) : general(value, precision || 1, keepsZeros),
  };

/** Rounds ties to even, which `toFixed` does not do. */
function fixed(value: number, precision: number): string {
  if (Math.abs(value) >= 1e21) return decimalOfLarge(value) + (precision > 0 ? `.${'0'.repeat(precision)}` : '');
  const text = value.toFixed(precision);
  const exact = value.toFixed(Math.min(MAX_PRECISION, precision + 25));
  const written = Object.is(value, -0) || (value < 0 && !text.startsWith('-')) ? `-${text.replace('-', '')}` : text;
  return isTie(exact, precision) ? towardEven(written, exact, precision) : written;
}

function decimalOfLarge(value: number): string {
  return BigInt(value).toString();
}

function isTie(exact: string, precision: number): boolean {
  const tail = exact.slice(exact.indexOf('.') + 1 + precision);
  return exact.includes('.') && /^50*$/.test(tail);
}

/** Of the two neighbors of a tie, the one whose last digit is even. @param rounded the one away from zero. */
function towardEven(rounded: string, exact: string, precision: number): string {
  const cut = exact.slice(0, exact.indexOf('.') + (precision > 0 ? 1 + precision : 0));
  return Number(cut.at(-1)) % 2 === 0 ? cut : rounded;
}

function exponential(value: number, precision: number): [mantissa: string, exponent: number] {
  const [mantissa, exponent] = value.toExponential(precision).split('e') as [string, string];
  return [Object.is(value, -0) ? `-${mantissa}` : mantissa, Number(exponent)];
}

function general(value: number, precision: number, keepsZeros: boolean): string {
  const [mantissa, exponent] = exponential(value, precision - 1);
  const digits = keepsZeros ? mantissa : mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  const significant = digits.replace(/[-.]/g, '').length;
  const limit = precision > significant && significant >= exponent + 1 ? significant : precision;
  if (exponent < -4 || exponent >= limit) return `${digits}e${goExponent(exponent)}`;
  return decimal(Number(`${digits}e${exponent}`));
}
