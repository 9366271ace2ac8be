import { parseArgs } from 'node:util';
import type { Flag, Flags } from '#contract';
import { UsageError, unknownWord } from './usage-error.ts';

/** What a command was called with. */
export type Arguments<F extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: F; allowPositionals: true }>
>;

/**
 * Reads what a command was called with.
 * @param positionals whether it takes anything besides flags. @throws UsageError.
 */
export function readArguments<F extends Flags>(args: string[], flags: F, positionals = false): Arguments<F> {
  const config = { args, options: flags, allowNegative: true, allowPositionals: positionals } as const;
  demandKnown(args, flags);
  try {
    return parseArgs(config) as Arguments<F>;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function demandKnown(args: string[], flags: Flags): void {
  const { tokens } = parseArgs({
    args,
    options: flags,
    allowNegative: true,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option' || Object.hasOwn(flags, token.name)) continue;
    const known = token.rawName.startsWith('--') ? Object.keys(flags).map((name) => `--${name}`) : [];
    throw unknownWord('flag', token.rawName, known);
  }
}

/** The value of a flag that takes one of a few words. @throws UsageError for another. */
export function oneOf<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new UsageError(`unknown ${flag} "${text}" (one of ${words.join(', ')})`);
}

/** Flags as lines of a help: names, what they do, what holds without them. */
export function rowsOfFlags(flags: Flags): string[][] {
  return Object.entries(flags).map(([name, flag]) => [namesOf(name, flag), aboutOf(flag)]);
}

function namesOf(name: string, { short, value, default: preset }: Flag): string {
  const long = preset === true ? `--no-${name}` : `--${name}`;
  return `${short === undefined ? '   ' : `-${short},`} ${long}${value === undefined ? '' : ` ${value}`}`;
}

function aboutOf({ about, default: preset, otherwise }: Flag): string {
  const without = otherwise ?? (typeof preset === 'string' ? preset : undefined);
  return without === undefined ? about : `${about} Default: ${without}.`;
}
