import { parseArgs } from 'node:util';
import { peers } from './peers/index.ts';
import type { Peer } from './peers/peer.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { type Backend, backends } from './stage.ts';
import { paths } from './work.ts';

/** Command-line options. */
export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly scenarios: readonly Scenario[];
  /** Whether to compare every base with itself, which shows the measurement noise. */
  readonly noise: boolean;
  /** File for the results as JSON. */
  readonly json: string | undefined;
  /** Other gateways to run in comparison; undefined to compare this one only with its base. */
  readonly peers: readonly Peer[] | undefined;
  /** Folder for a chart of each scenario with peers. */
  readonly charts: string | undefined;
  readonly backend: Backend;
}

/** @throws Error for an unknown option or an invalid value. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { ...text, default: '5' },
      seconds: { ...text, default: '3' },
      connections: { ...text, default: '64' },
      scenario: text,
      noise: { type: 'boolean', default: false },
      json: text,
      peers: text,
      charts: text,
      backend: { ...text, default: 'node' },
    },
  });
  const chosen = values.peers === undefined ? undefined : peersOf(values.peers);
  if (values.charts !== undefined && !chosen) throw new Error('--charts needs --peers');
  const choice = chosen ? scenarios.filter(({ name }) => name in paths) : scenarios;
  return {
    rounds: positive('rounds', values.rounds, true),
    seconds: positive('seconds', values.seconds, false),
    connections: positive('connections', values.connections, true),
    scenarios: values.scenario?.split(',').map((name) => pick('scenario', name, choice)) ?? choice,
    noise: values.noise,
    json: values.json,
    peers: chosen,
    charts: values.charts,
    backend: pick('backend', values.backend, backends).name,
  };
}

/** @param text comma-separated names, or `all`. @throws Error for names that cannot be measured. */
function peersOf(text: string): readonly Peer[] {
  if (process.platform !== 'linux')
    throw new Error('--peers reads the CPU time of programs from /proc: it needs Linux');
  return text === 'all' ? peers : text.split(',').map((name) => pick('peers', name, peers));
}

/** Parses a number above zero. @throws Error otherwise. */
export function positive(option: string, text: string, whole: boolean): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value) && (!whole || Number.isInteger(value))) return value;
  throw new Error(`--${option} must be a ${whole ? 'whole ' : ''}number above 0, not "${text}"`);
}

/** Finds an item by name. @throws Error for an unknown name. */
export function pick<T extends { readonly name: string }>(option: string, name: string, choice: readonly T[]): T {
  const match = choice.find((one) => one.name === name);
  if (match) return match;
  throw new Error(`--${option}: "${name}" is none of ${choice.map((one) => one.name).join(', ')}`);
}
