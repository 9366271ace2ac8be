import type { Namespace, Order, Phase, Plugin } from '#contract';

/** A plugin in a phase of the order. */
interface Item {
  readonly plugin: Plugin;
  /** Whether the plugin was attached to the endpoint or backend by a component at the root. */
  readonly ofService?: true;
}

/**
 * Sorts the items of one phase, outermost first, by the order table. A plugin that the table does not name is placed
 * next to the one named by its `outside` or `inside`, in the table or not, or else innermost. Items that the service
 * attaches may have a place of their own, as `service: NAME`.
 */
export function sortByOrder<T extends Item>(items: readonly T[], order: Order, phase: Phase): T[] {
  if (items.length < 2) return items.slice();
  const listed = order[phase];
  const others = new Map(items.map(({ plugin }) => [plugin.name, plugin]));
  return items
    .map((item, index) => {
      const own = item.ofService ? listed.indexOf(`service: ${item.plugin.name}`) : -1;
      return { item, rank: own >= 0 ? own : positionOf(item.plugin, listed, others).rank, index };
    })
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ item }) => item);
}

/** Position of a plugin in the order (`rank`), and the number of `outside` and `inside` references between the plugin and one that the table names (`away`). */
interface Place {
  readonly rank: number;
  readonly away: number;
}

/** @param asking plugins whose position depends on this one. A circular reference results in the innermost position. */
function positionOf(
  plugin: Plugin,
  listed: readonly Namespace[],
  others: ReadonlyMap<Namespace, Plugin>,
  asking: readonly Plugin[] = [],
): Place {
  const at = listed.indexOf(plugin.name);
  if (at >= 0) return { rank: at, away: 0 };
  const innermost = { rank: listed.length, away: 0 };
  if (asking.includes(plugin)) return innermost;
  const nextTo = (name: Namespace | undefined, direction: -1 | 1): Place | undefined => {
    const place = name === undefined ? -1 : listed.indexOf(name);
    const other = name === undefined ? undefined : others.get(name);
    if (place < 0 && !other) return undefined;
    const { rank, away } =
      place >= 0 ? { rank: place, away: 0 } : positionOf(other!, listed, others, [...asking, plugin]);
    return { rank: rank + direction * 0.5 ** (away + 1), away: away + 1 };
  };
  return nextTo(plugin.outside, -1) ?? nextTo(plugin.inside, 1) ?? innermost;
}
