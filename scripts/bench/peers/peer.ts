import type { Program } from '../programs.ts';
import type { Setup, Subject } from '../subject.ts';

/** Another gateway or proxy to compare with this one. */
export interface Peer {
  readonly name: string;
  /** Scenarios that the program supports with an ordinary configuration. */
  readonly scenarios: readonly string[];
  /** Reason why the program does not support the other scenarios. */
  readonly cannot: string;
  /**
   * Finds the program on this machine, or installs it.
   * @param folder is removed at the end of the benchmark.
   * @throws Error with instructions.
   */
  readonly install: (folder: string) => Promise<Program>;
  /** Returns the configuration files of the program, as texts by file name. */
  readonly files?: (setup: Setup, program: Program) => Readonly<Record<string, string>>;
  /** Arguments of the executable or, if `ofNode`, of Node.js, with the script first. */
  readonly arguments: (setup: Setup, program: Program) => readonly string[];
  /** True for a program that runs in Node.js. */
  readonly ofNode?: true;
}

/** An installed peer as a program to measure. */
export function subjectOf(peer: Peer, program: Program): Subject {
  const { files } = peer;
  return {
    name: `${peer.name} ${program.version}`,
    script: (setup) => peer.arguments(setup, program),
    ...(!peer.ofNode && { executable: program.path }),
    ...(files && { files: (setup: Setup) => files(setup, program) }),
  };
}

/** Scenarios in which every response is collected before it is sent. */
export const COLLECTED = ['no-op', 'json', 'filter', 'merge', 'json-64k'];

/** Scenarios in which bodies stream in both directions. */
export const STREAMED = ['echo-1m', 'echo-100m'];

export const BYTES_ONLY = 'it passes bytes and does not look into JSON';
export const NO_MERGE = 'it asks one backend for a request';

/** A script of `servers`, called with the packages' folder, the scenario, its port and the backend's origin. */
export function nodeServer(name: string): Peer['arguments'] {
  const file = `${import.meta.dirname}/servers/${name}.ts`;
  return ({ scenario, port, upstream }, { path }) => [file, path, scenario, String(port), upstream];
}
