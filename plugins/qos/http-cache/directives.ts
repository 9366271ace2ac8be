import type { HeaderBag } from '#contract';

/** `Cache-Control` of one message: lower-case names with their values, or an empty string. */
export type Directives = ReadonlyMap<string, string>;

const none: Directives = new Map();
/** A header that cannot be parsed completely could contain any directive. */
const unread: Directives = new Map([['no-store', '']]);
const DIRECTIVE = /([^\s=,;"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(")|([^\s,"]*)))?/g;
/** Upper limit of a lifetime, in seconds, treated as forever: the limit that RFC 9111 requires. */
const MAX_SECONDS = 2 ** 31;
/** Maximum length of a `Cache-Control` header: nothing is stored for a longer one, since no directive must be missed. */
const MAX_LENGTH = 4096;

/** If a directive is repeated, the first one is used. */
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

/** Seconds of a directive; undefined when it is missing, 0 when its value is not a number. */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const value = directives.get(name);
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) : 0;
}

/** Seconds of a directive whose value is optional, unlimited without one; 0 when the directive is missing. */
export function patienceOf(directives: Directives, name: string): number {
  return directives.get(name) === '' ? MAX_SECONDS : (secondsOf(directives, name) ?? 0);
}

/** True for a response that explicitly allows being served to anyone. */
export function isForAll(directives: Directives): boolean {
  return directives.has('public') || directives.has('s-maxage');
}
