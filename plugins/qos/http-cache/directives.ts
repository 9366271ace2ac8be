import type { HeaderBag } from '#contract';

/** `Cache-Control` of one message: names in lower case, with their values or an empty text. */
export type Directives = ReadonlyMap<string, string>;

const none: Directives = new Map();
/** What cannot be read to its end may end in anything. */
const unread: Directives = new Map([['no-store', '']]);
const DIRECTIVE = /([^\s=,;"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(")|([^\s,"]*)))?/g;
/** Seconds beyond which a life is as good as for ever: what RFC 9111 wants to be counted to. */
const MAX_SECONDS = 2 ** 31;
/** Longest `Cache-Control` that is read: what stands behind it must not be missed, so nothing is kept. */
const MAX_LENGTH = 4096;

/** The first of equal directives counts. */
export function readDirectives(headers: HeaderBag): Directives {
  const lines = headers.getAll('cache-control');
  if (lines.length === 0) return none;
  const directives = new Map<string, string>();
  const text = lines.join(',');
  if (text.length > MAX_LENGTH) return unread;
  for (const [, name, quoted, open, plain = ''] of text.matchAll(DIRECTIVE)) {
    if (open !== undefined) return unread;
    const key = name!.toLowerCase();
    if (!directives.has(key)) directives.set(key, quoted ?? plain);
  }
  return directives;
}

/** Seconds of a directive; undefined where it is missing, 0 where it says no number. */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const value = directives.get(name);
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) : 0;
}

/** Seconds of a directive that may stand without a number, for as long as it takes; 0 where it is missing. */
export function patienceOf(directives: Directives, name: string): number {
  return directives.get(name) === '' ? MAX_SECONDS : (secondsOf(directives, name) ?? 0);
}

/** True for an answer that says itself that it may be given to anybody, whoever asked. */
export function isForAll(directives: Directives): boolean {
  return directives.has('public') || directives.has('s-maxage');
}
