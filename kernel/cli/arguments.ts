import { parseArgs } from 'node:util';
import { type Flag, type Flags, nearest } from '#contract';

/** Parsed arguments of a command. */
export type Arguments<F extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: F; allowPositionals: true }>
>;

/**
 * Parses the arguments of a command.
 * @param positionals whether it accepts arguments other than flags. @throws UsageError.
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

/** Parses the value of a flag with a fixed set of values. @throws UsageError for any other value. */
export function oneOf<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new UsageError(`unknown ${flag} "${text}" (one of ${words.join(', ')})`);
}

/** Formats flags as rows of a help text: names, description, default. */
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

/** Invalid arguments of a command. */
export class UsageError extends Error {}

/** Creates an error for an unknown word that suggests the most similar known one. */
export function unknownWord(kind: string, word: string, known: Iterable<string>): UsageError {
  const near = nearest(word, known);
  return new UsageError(`unknown ${kind} "${word}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
}

/** Parses a positive integer argument. @param name description for the message. @throws UsageError. */
export function parseCount(text: string, name: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count)) throw new UsageError(`not ${name}: ${text}`);
  return count;
}

/** Parses a non-negative number argument. @throws UsageError. */
export function parseAmount(text: string, name: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new UsageError(`not ${name}: ${text}`);
  return Number(text);
}
