const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Most that eight digits of milliseconds can say. */
const LONGEST_MS = 99_999_999;

/** A time as `grpc-timeout` has it. @param ms finite; at least a millisecond is asked for. */
export function formatTimeout(ms: number): string {
  if (ms <= LONGEST_MS) return `${Math.max(Math.floor(ms), 1)}m`;
  return `${Math.min(Math.floor(ms / 1000), LONGEST_MS)}S`;
}

/** Milliseconds of a `grpc-timeout`; null for what is none. */
export function parseTimeout(text: string): number | null {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * units[unit!]!;
}
