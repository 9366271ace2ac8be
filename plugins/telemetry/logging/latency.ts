import { printed, type Variable } from './pattern.ts';

/** Units of `%{latency…}`: how many make a millisecond, and how the number is printed. */
const units: ReadonlyMap<string, { readonly perMs: number; readonly verb: string }> = new Map([
  ['latency', { perMs: 1e-3, verb: '.3fs' }],
  ['latencyMs', { perMs: 1, verb: '.3fms' }],
  ['latencyUs', { perMs: 1e3, verb: '.3fus' }],
  ['latencyNs', { perMs: 1e6, verb: 'dns' }],
]);

/** The names of the latencies. */
export const latencyNames: readonly string[] = [...units.keys()];

/** The variable of that name when it is one of the latencies. */
export function latency<R extends { readonly latencyMs: number }>(
  name: string,
  format: string,
): Variable<R> | undefined {
  const unit = units.get(name);
  return unit && printed((record) => record.latencyMs * unit.perMs, format, unit.verb);
}
