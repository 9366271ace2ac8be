import type { SrvRecord } from 'node:dns';

/** Maximum number of entries in a list whose records are compared regardless of order. */
const LONG_LIST = 100;
/** Maximum sum of weights before they are scaled, unless there are more records. */
const LARGEST_SUM = 100;

/**
 * Targets of the records with the lowest priority value as `name:port`, each repeated by its weight; the order is the
 * same for the same records. A record without a target or a port means that the service is unavailable, and is omitted.
 */
export function spread(records: readonly SrvRecord[]): string[] {
  const usable = records.filter(({ name, port }) => port > 0 && /^[\w.-]+$/.test(name));
  const lowest = usable.reduce((least, { priority }) => Math.min(least, priority), Number.POSITIVE_INFINITY);
  const chosen = usable.filter(({ priority }) => priority === lowest).sort(byWeight);
  const shares = sharesOf(chosen.map(({ weight }) => weight));
  return chosen.flatMap(({ name, port }, at) => new Array<string>(shares[at]!).fill(`${name}:${port}`));
}

/** Shuffles a long list, so that balancers that iterate over it in parallel do not pick the same hosts; returns a short one unchanged. */
export function mixed(targets: readonly string[]): readonly string[] {
  if (targets.length <= LONG_LIST) return targets;
  const list = targets.slice();
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [list[at], list[other]] = [list[other]!, list[at]!];
  }
  return list;
}

/** Small integers in proportion to the weights; weights that are all 0 are treated as equal. */
function sharesOf(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 0) return weights.map(() => 1);
  const limit = Math.max(LARGEST_SUM, weights.length);
  const scaled = sum > limit ? weights.map((weight) => Math.floor((weight * limit) / sum)) : weights;
  const divisor = scaled.reduce(greatestCommonDivisor);
  return scaled.map((weight) => weight / divisor);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function byWeight(a: SrvRecord, b: SrvRecord): number {
  return b.weight - a.weight || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.port - b.port);
}
