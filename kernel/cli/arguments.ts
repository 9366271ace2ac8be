import { parseArgs } from 'node:util';
import { type Flag, type Flags, nearest } from '#contract';

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

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}

/** For a word that is none of those it could be, with the one it is most like. */
export function unknownWord(kind: string, word: string, known: Iterable<string>): UsageError {
  const near = nearest(word, known);
  return new UsageError(`unknown ${kind} "${word}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
}

/** A whole number above 0, as an argument. @param name what it is, for the message. @throws UsageError. */
export function parseCount(text: string, name: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count)) throw new UsageError(`not ${name}: ${text}`);
  return count;
}

/** A number from 0 on, as an argument. @throws UsageError. */
export function parseAmount(text: string, name: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new UsageError(`not ${name}: ${text}`);
  return Number(text);
}
