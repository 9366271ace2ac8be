import { printed, type Variable } from './pattern.ts';

/** Units of `%{latency…}`: the number of units per millisecond and the verb that prints them. */
const units: ReadonlyMap<string, { readonly perMs: number; readonly verb: string }> = new Map([
  ['latency', { perMs: 1e-3, verb: '.3fs' }],
  ['latencyMs', { perMs: 1, verb: '.3fms' }],
  ['latencyUs', { perMs: 1e3, verb: '.3fus' }],
  ['latencyNs', { perMs: 1e6, verb: 'dns' }],
]);

/** Names of the latency variables. */
export const latencyNames: readonly string[] = [...units.keys()];

/** Returns the latency variable of that name, if there is one. */
export function latency<R extends { readonly latencyMs: number }>(
  name: string,
  format: string,
): Variable<R> | undefined {
  const unit = units.get(name);
  return unit && printed((record) => record.latencyMs * unit.perMs, format, unit.verb);
}
