import type { HeaderBag } from '#contract';
import { httpDate } from '../../shared/http-headers/date.ts';
import { type Directives, patienceOf, secondsOf } from './directives.ts';
import { ageOf, type Entry } from './entry.ts';

/** Usability of a stored response for a request; a `stale` one may be served while the backend is called. */
export type Verdict = 'fresh' | 'stale' | 'unusable';

/** @param now milliseconds since 1970. */
export function judge(entry: Entry, requested: Directives, now: number): Verdict {
  const { policy } = entry;
  if (policy.noCache || requested.has('no-cache')) return 'unusable';
  const age = ageOf(entry, now);
  const isYoungEnough = age <= (secondsOf(requested, 'max-age') ?? Number.POSITIVE_INFINITY);
  const left = policy.lifetime - age - (secondsOf(requested, 'min-fresh') ?? 0);
  if (left > 0 && isYoungEnough) return 'fresh';
  if (policy.mustRevalidate || !isYoungEnough) return 'unusable';
  const overdue = age - policy.lifetime;
  if (requested.has('max-stale') && overdue <= patienceOf(requested, 'max-stale')) return 'fresh';
  return overdue < policy.staleWhileRevalidate && !requested.has('min-fresh') ? 'stale' : 'unusable';
}

/** True for a response that may be served in place of an error. */
export function helpsOnError(entry: Entry, requested: Directives, now: number): boolean {
  if (entry.policy.mustRevalidate || entry.policy.noCache) return false;
  return ageOf(entry, now) < Math.max(entry.policy.staleIfError, patienceOf(requested, 'stale-if-error'));
}

/** True when the client already has the response. */
export function isHeldByClient(entry: Entry, headers: HeaderBag, held: HeaderBag): boolean {
  if (entry.status !== 200) return false;
  const tags = headers.getAll('if-none-match');
  if (tags.length > 0) return matchesTag(tags.join(','), held.get('etag'));
  const since = headers.get('if-modified-since');
  if (since === undefined) return false;
  return httpDate(held.get('last-modified') ?? held.get('date')) <= httpDate(since);
}

function matchesTag(wanted: string, tag: string | undefined): boolean {
  if (wanted.trim() === '*') return true;
  const bare = tag?.replace(/^W\//, '');
  return Array.from(wanted.matchAll(/"[^"]*"|[^\s,"]+/g)).some(([each]) => each === bare);
}
