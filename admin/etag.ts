import type Koa from 'koa';
import type { Operations } from '#kernel';
import { Problem } from './problem.ts';

/** A revision and its fingerprint. */
interface Revised {
  readonly revision: number;
  readonly hash: string;
}

/** Strong ETag: `"<revision>-<first 12 digits of the hash>"`. */
export function etagOf({ revision, hash }: Revised): string {
  return `"${revision}-${hash.slice(0, 12)}"`;
}

/** ETag of the serving configuration. */
export function currentEtag({ status }: Operations): string {
  return etagOf(status);
}

/** Tells whether a list of ETags contains a tag or is `*`. @param weakly whether weak tags match, as they do for reads. */
function lists(header: string, etag: string, weakly: boolean): boolean {
  const tags = header.split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag === '*' || (weakly ? tag.replace(/^W\//, '') : tag) === etag);
}

/** True when the client already has the serving configuration and should get the status 304. */
export function hasCurrent(ctx: Koa.Context, gateway: Operations): boolean {
  const header = ctx.get('if-none-match');
  return header !== '' && lists(header, currentEtag(gateway), true);
}

/** @throws Problem stale when `If-Match` is present and does not match the serving configuration. */
export function demandMatch(ctx: Koa.Context, serving: Revised): void {
  const header = ctx.get('if-match');
  const etag = etagOf(serving);
  if (header === '' || lists(header, etag, false)) return;
  const { revision } = serving;
  throw new Problem('stale', `If-Match does not name the active revision, ${revision}`, {
    headers: { ETag: etag },
    members: { revision },
  });
}

/** @throws Problem precondition-required when `If-Match` is missing. */
export function demandIfMatch(ctx: Koa.Context): void {
  if (ctx.get('if-match') !== '') return;
  throw new Problem('precondition-required', 'If-Match is required: send the ETag of the revision to change');
}
