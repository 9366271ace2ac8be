import { parseArgs } from 'node:util';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** What the command line asks for. */
export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly scenarios: readonly Scenario[];
  /** Compare every base with itself. */
  readonly noise: boolean;
  /** File for the figures as JSON. */
  readonly json: string | undefined;
}

/** @throws Error when an option is unknown or its value makes no sense. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { ...text, default: '5' },
      seconds: { ...text, default: '3' },
      connections: { ...text, default: '64' },
      only: { ...text, default: scenarios.map(({ name }) => name).join() },
      noise: { type: 'boolean', default: false },
      json: text,
    },
  });
  return {
    rounds: positive('rounds', values.rounds, true),
    seconds: positive('seconds', values.seconds, false),
    connections: positive('connections', values.connections, true),
    scenarios: values.only.split(',').map((name) => pick('only', name, scenarios)),
    noise: values.noise,
    json: values.json,
  };
}

/** A number above zero. @throws Error otherwise. */
export function positive(option: string, text: string, whole: boolean): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value) && (!whole || Number.isInteger(value))) return value;
  throw new Error(`--${option} must be a ${whole ? 'whole ' : ''}number above 0, not "${text}"`);
}

/** One of some, by name. @throws Error when there is none of that name. */
export function pick<T extends { readonly name: string }>(option: string, name: string, choice: readonly T[]): T {
  const match = choice.find((one) => one.name === name);
  if (match) return match;
  throw new Error(`--${option}: "${name}" is none of ${choice.map((one) => one.name).join(', ')}`);
}
