import type Koa from 'koa';
import type { Parameter } from './operation.ts';
import { queryNumber, queryText } from './parameters.ts';
import { Problem } from './problem.ts';

/** Default number of items per page. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** Query parameters of all lists. */
export const pageParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of items in the response.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  },
  { name: 'cursor', in: 'query', description: 'Cursor: the end of the previous page.', schema: { type: 'string' } },
];

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null on the last one. */
  readonly cursor: string | null;
}

/**
 * The requested page of a list. The cursor is the key of the previous page's last item, so that items added at the
 * front, or pruned, do not shift pages.
 * @param keyOf unique key of an item.
 * @throws Problem bad-request.
 */
export function pageOf<Item>(ctx: Koa.Context, items: readonly Item[], keyOf: (item: Item) => string): Page<Item> {
  const limit = queryNumber(ctx, 'limit', { least: 1, most: MAX_LIMIT, whole: true }) ?? DEFAULT_LIMIT;
  const cursor = queryText(ctx, 'cursor');
  const last = cursor === undefined ? -1 : items.findIndex((item) => keyOf(item) === cursor);
  if (cursor !== undefined && last < 0)
    throw new Problem('bad-request', 'the cursor is not valid: start again from the first page');
  const page = items.slice(last + 1, last + 1 + limit);
  const isLast = last + 1 + limit >= items.length;
  return { items: page, cursor: isLast ? null : keyOf(page.at(-1)!) };
}
