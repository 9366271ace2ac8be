import { hash } from 'node:crypto';

/** A script that runs atomically on the server. */
export interface Script {
  /** Source code, in the server's dialect of Lua. */
  readonly source: string;
  /** SHA-1 by which a server identifies a cached script. */
  readonly sha1: string;
}

/** Defines a script. Each server receives its source at first use, and again if it has dropped it. */
export function defineScript(source: string): Script {
  return { source, sha1: hash('sha1', source) };
}
