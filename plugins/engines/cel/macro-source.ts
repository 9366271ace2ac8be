import type { PipeRequest } from '#contract';
import type { LocateAddress } from '../../shared/ports/geo.ts';

/** Request data that macro functions read. */
export interface MacroSource {
  readonly request: PipeRequest;
  /** Looks up the location of an address; undefined without a database. */
  readonly locate: LocateAddress | undefined;
}

let current: MacroSource | null = null;

/** Runs a synchronous evaluation whose functions read a request; null for no request. */
export function withSource<T>(source: MacroSource | null, evaluate: () => T): T {
  current = source;
  try {
    return evaluate();
  } finally {
    current = null;
  }
}

/** @throws Error without a current request. */
export function currentSource(): MacroSource {
  if (!current) throw new Error('no request is available');
  return current;
}

/** The value of a cookie, as the client sent it, without surrounding quotes; undefined if absent. */
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
