import type { Namespace, Order, Phase, Plugin } from '#contract';

/**
 * Sorts what stands in one phase, outermost first: by the order table; a plugin the table does not name stands beside
 * the one its `outside` or `inside` names, else innermost.
 */
export function sortByOrder<T extends { readonly plugin: Plugin }>(
  items: readonly T[],
  order: Order,
  phase: Phase,
): T[] {
  if (items.length < 2) return items.slice();
  const listed = order[phase];
  return items
    .map((item, index) => ({ item, rank: rankOf(item.plugin, listed), index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ item }) => item);
}

function rankOf(plugin: Plugin, listed: readonly Namespace[]): number {
  const at = listed.indexOf(plugin.name);
  if (at >= 0) return at;
  const outside = plugin.outside === undefined ? -1 : listed.indexOf(plugin.outside);
  if (outside >= 0) return outside - 0.5;
  const inside = plugin.inside === undefined ? -1 : listed.indexOf(plugin.inside);
  if (inside >= 0) return inside + 0.5;
  return listed.length;
}
