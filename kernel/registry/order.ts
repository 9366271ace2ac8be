import type { Namespace, Order, Phase, Plugin } from '#contract';

/**
 * Sorts what stands in one phase, outermost first: by the order table; a plugin the table does not name stands beside
 * the one its `outside` or `inside` names, be that in the table or not, else innermost.
 */
export function sortByOrder<T extends { readonly plugin: Plugin }>(
  items: readonly T[],
  order: Order,
  phase: Phase,
): T[] {
  if (items.length < 2) return items.slice();
  const listed = order[phase];
  const others = new Map(items.map(({ plugin }) => [plugin.name, plugin]));
  return items
    .map((item, index) => ({ item, rank: standingOf(item.plugin, listed, others).rank, index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ item }) => item);
}

/** Where a plugin stands, and how many neighbours away from the table. */
interface Standing {
  readonly rank: number;
  readonly away: number;
}

/** @param asking those on whose place this one's depends: who depends on itself stands innermost. */
function standingOf(
  plugin: Plugin,
  listed: readonly Namespace[],
  others: ReadonlyMap<Namespace, Plugin>,
  asking: readonly Plugin[] = [],
): Standing {
  const at = listed.indexOf(plugin.name);
  if (at >= 0) return { rank: at, away: 0 };
  const innermost = { rank: listed.length, away: 0 };
  if (asking.includes(plugin)) return innermost;
  const beside = (name: Namespace | undefined, direction: -1 | 1): Standing | undefined => {
    const place = name === undefined ? -1 : listed.indexOf(name);
    const other = name === undefined ? undefined : others.get(name);
    if (place < 0 && !other) return undefined;
    const { rank, away } =
      place >= 0 ? { rank: place, away: 0 } : standingOf(other!, listed, others, [...asking, plugin]);
    return { rank: rank + direction * 0.5 ** (away + 1), away: away + 1 };
  };
  return beside(plugin.outside, -1) ?? beside(plugin.inside, 1) ?? innermost;
}
