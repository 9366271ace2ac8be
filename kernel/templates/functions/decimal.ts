/** Decimal places of a quotient. */
const QUOTIENT_DIGITS = 16;

/** A number as the decimal that it prints as: `digits / 10 ** scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Adds numbers by their written digits: 0.1 and 0.2 are 0.3. */
export function addDecimal(one: number, other: number): number {
  return exactly(one, other, one + other, (a, b) => {
    const scale = Math.max(a.scale, b.scale);
    return { digits: scaled(a, scale) + scaled(b, scale), scale };
  });
}

export function multiplyDecimal(one: number, other: number): number {
  return exactly(one, other, one * other, (a, b) => ({ digits: a.digits * b.digits, scale: a.scale + b.scale }));
}

/** Divides with rounding to 16 decimal places. @param other not zero. */
export function divideDecimal(one: number, other: number): number {
  return exactly(one, other, one / other, (a, b) => {
    const scale = Math.max(a.scale, b.scale);
    const divisor = scaled(b, scale);
    const quotient = (scaled(a, scale) * 10n ** BigInt(QUOTIENT_DIGITS + 1)) / divisor;
    const half = quotient < 0n ? -5n : 5n;
    return { digits: (quotient + half) / 10n, scale: QUOTIENT_DIGITS };
  });
}

/** Larger powers of ten use floating-point arithmetic. */
const MAX_POWER = 60;

function exactly(one: number, other: number, otherwise: number, compute: (a: Decimal, b: Decimal) => Decimal): number {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  if (!a || !b) return otherwise;
  const { digits, scale } = compute(a, b);
  return Number(`${digits}e${-scale}`);
}

/** @returns undefined for a number that is too large or too small for this. */
function decimalOf(value: number): Decimal | undefined {
  if (!Number.isFinite(value)) return undefined;
  const [mantissa, power] = value.toExponential().split('e') as [string, string];
  if (Math.abs(Number(power)) > MAX_POWER) return undefined;
  const fraction = mantissa.split('.')[1] ?? '';
  const scale = fraction.length - Number(power);
  const digits = BigInt(mantissa.replace('.', ''));
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}
