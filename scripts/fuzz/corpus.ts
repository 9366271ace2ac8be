import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Inputs that failed once, by target: `npm test` replays them. */
const folder = fileURLToPath(new URL('../../test/fuzz-corpus/', import.meta.url));

/** A saved input. */
export interface KeptInput {
  /** Name of the input's file, without its extension. */
  readonly id: string;
  readonly input: unknown;
}

/** Saves an input that failed. @returns its file, which is written only if it does not exist. */
export function keepFind(target: string, input: unknown, message: string): string {
  const text = JSON.stringify(input);
  const directory = join(folder, target);
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify({ found: message.split('\n')[0], input }, null, 2)}\n`);
  return file;
}

export function keptInputs(target: string): KeptInput[] {
  const directory = join(folder, target);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .sort()
    .map((name) => ({
      id: name.replace(/\.json$/, ''),
      input: (JSON.parse(readFileSync(join(directory, name), 'utf8')) as { input: unknown }).input,
    }));
}
