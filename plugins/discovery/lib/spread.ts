import type { SrvRecord } from 'node:dns';

/** What entries a list may have before records are compared without order no more. */
const LONG_LIST = 100;
/** What weights may add up to before they are scaled, unless there are more records. */
const LARGEST_SUM = 100;

/**
 * The targets of the records of the lowest priority as `name:port`, each as often as its weight says; the order is the
 * same for the same records. A record without a target or a port says that there is no service and is left out.
 */
export function spread(records: readonly SrvRecord[]): string[] {
  const usable = records.filter(({ name, port }) => port > 0 && /^[\w.-]+$/.test(name));
  const lowest = usable.reduce((least, { priority }) => Math.min(least, priority), Number.POSITIVE_INFINITY);
  const chosen = usable.filter(({ priority }) => priority === lowest).sort(byWeight);
  const shares = sharesOf(chosen.map(({ weight }) => weight));
  return chosen.flatMap(({ name, port }, at) => new Array<string>(shares[at]!).fill(`${name}:${port}`));
}

/** A long list in random order, so that balancers that go through it side by side do not meet; a short one as it is. */
export function mixed(targets: readonly string[]): readonly string[] {
  if (targets.length <= LONG_LIST) return targets;
  const list = targets.slice();
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [list[at], list[other]] = [list[other]!, list[at]!];
  }
  return list;
}

/** Small whole numbers in the proportion of the weights; weights that are all 0 are equal. */
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
