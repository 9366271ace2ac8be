import type { Route } from './effective-document.ts';

/** A route before and after; one of them is there, and their positions are those in the sorted lists. */
export interface Match {
  readonly before: Route | undefined;
  readonly after: Route | undefined;
  readonly at: { readonly from: number; readonly to: number };
}

/** Brings together the routes of one key. Walks two lists, sorted by key, side by side. */
export function matchRoutes(old: readonly Route[], renewed: readonly Route[]): Match[] {
  const matches: Match[] = [];
  for (let from = 0, to = 0; from < old.length || to < renewed.length; ) {
    const before = old[from];
    const after = renewed[to];
    const isOld = before !== undefined && (after === undefined || before.key <= after.key);
    const isNew = after !== undefined && (before === undefined || after.key <= before.key);
    matches.push({ before: isOld ? before : undefined, after: isNew ? after : undefined, at: { from, to } });
    if (isOld) from++;
    if (isNew) to++;
  }
  return matches;
}
