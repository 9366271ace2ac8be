import type { Program } from '../programs.ts';
import type { Setup, Subject } from '../subject.ts';

/** Another gateway or proxy, to be measured beside this one. */
export interface Peer {
  readonly name: string;
  /** The scenarios it can do, with no more than its users would write. */
  readonly scenarios: readonly string[];
  /** Why it cannot do the others. */
  readonly cannot: string;
  /**
   * Finds it on this machine, or installs it.
   * @param folder is removed at the end of the benchmark.
   * @throws Error that says what to do.
   */
  readonly install: (folder: string) => Promise<Program>;
  /** Its configuration: texts by file name. */
  readonly files?: (setup: Setup, program: Program) => Readonly<Record<string, string>>;
  /** The arguments of its executable; of Node, with the script first, where `ofNode`. */
  readonly arguments: (setup: Setup, program: Program) => readonly string[];
  /** It is a Node program. */
  readonly ofNode?: true;
}

/** A peer that is there, as a program to measure. */
export function subjectOf(peer: Peer, program: Program): Subject {
  const { files } = peer;
  return {
    name: `${peer.name} ${program.version}`,
    script: (setup) => peer.arguments(setup, program),
    ...(!peer.ofNode && { executable: program.path }),
    ...(files && { files: (setup: Setup) => files(setup, program) }),
  };
}

/** Scenarios in which every answer is collected before it leaves. */
export const COLLECTED = ['no-op', 'json', 'filter', 'merge', 'json-64k'];

/** Scenarios in which bodies stream both ways. */
export const STREAMED = ['echo-1m', 'echo-100m'];

export const BYTES_ONLY = 'it passes bytes and does not look into JSON';
export const NO_MERGE = 'it asks one backend for a request';

/** A script of `servers` that is given the packages' folder, the scenario, its port and the backend's origin. */
export function nodeServer(name: string): Peer['arguments'] {
  const file = `${import.meta.dirname}/servers/${name}.ts`;
  return ({ scenario, port, upstream }, { path }) => [file, path, scenario, String(port), upstream];
}
