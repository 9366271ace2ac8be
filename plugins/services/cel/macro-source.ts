import type { PipeRequest } from '#contract';
import type { LocateAddress } from '../geo.ts';

/** What the functions look at that know of the request. */
export interface MacroSource {
  readonly request: PipeRequest;
  /** Undefined where there is no database. */
  readonly locate: LocateAddress | undefined;
}

let current: MacroSource | null = null;

/** Runs an evaluation, which is synchronous, whose functions look at a request; null for none. */
export function withSource<T>(source: MacroSource | null, evaluate: () => T): T {
  current = source;
  try {
    return evaluate();
  } finally {
    current = null;
  }
}

/** @throws Error where there is no request. */
export function currentSource(): MacroSource {
  if (!current) throw new Error('no request is available');
  return current;
}

/** The value of a cookie, as the client sent it, without quotes around it; undefined for none. */
export function cookieOf({ client }: PipeRequest, name: string): string | undefined {
  for (const header of client.headers.getAll('cookie')) {
    for (const pair of header.split(';')) {
      const at = pair.indexOf('=');
      if (at < 0 || pair.slice(0, at).trim() !== name) continue;
      return pair
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/s, '$1');
    }
  }
  return undefined;
}
