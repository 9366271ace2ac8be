import { hash } from 'node:crypto';

/** A script that runs on the server, in one piece. */
export interface Script {
  /** In the Lua of the server. */
  readonly source: string;
  /** By which a server that has it knows it. */
  readonly sha1: string;
}

/** Every server learns it when it is first asked, and again after it has forgotten it. */
export function defineScript(source: string): Script {
  return { source, sha1: hash('sha1', source) };
}
