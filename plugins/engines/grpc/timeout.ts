const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Largest number of milliseconds that fits into the eight digits of the format. */
const LONGEST_MS = 99_999_999;

/** Formats a `grpc-timeout`. @param ms finite; values below 1 millisecond become 1 millisecond. */
export function formatTimeout(ms: number): string {
  if (ms <= LONGEST_MS) return `${Math.max(Math.floor(ms), 1)}m`;
  return `${Math.min(Math.floor(ms / 1000), LONGEST_MS)}S`;
}

/** Parses a `grpc-timeout` to milliseconds; null if invalid. */
export function parseTimeout(text: string): number | null {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * units[unit!]!;
}
