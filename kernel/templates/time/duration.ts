import { TypedInteger } from '../value.ts';

const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Creates a duration value. @param nanoseconds length of the duration. */
export function duration(nanoseconds: bigint): TypedInteger {
  return new TypedInteger(nanoseconds, 'time.Duration', showDuration(nanoseconds));
}

/** Parses `1h30m`, `-1.5s`, like Go's `time.ParseDuration`. @returns nanoseconds; undefined for an invalid duration. */
export function parseGoDuration(text: string): bigint | undefined {
  const [, sign, body] = /^([-+]?)(.+)$/s.exec(text) ?? [];
  if (body === undefined) return undefined;
  if (body === '0') return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let sum = 0n;
  for (const [, number, unit] of body.matchAll(/([\d.]+)([^\d.]+)/g)) {
    const [whole = '', fraction = ''] = number!.split('.');
    const scale = UNITS[unit!]!;
    sum += BigInt(whole || '0') * BigInt(scale) + BigInt(Math.trunc(Number(`0.${fraction || '0'}`) * scale + 1e-6));
  }
  const signed = sign === '-' ? -sum : sum;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
}

/** Formats a duration as Go does: `1h30m0s`, `1.5s`, `20ms`. */
export function showDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${fractional(size, 1_000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${fractional(size, 1_000_000n)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${fractional(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

function fractional(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(value / unit) : `${value / unit}.${fraction}`;
}
