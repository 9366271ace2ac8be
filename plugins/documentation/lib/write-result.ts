import { writeFile } from 'node:fs/promises';
import type { CommandCall } from '#contract';

/** Writes what a command made: to a file, or to standard output for `-`. @returns the exit code. */
export async function writeResult(path: string, text: string, { stdout, stderr }: CommandCall): Promise<number> {
  if (path === '-') {
    stdout.write(text);
    return 0;
  }
  try {
    await writeFile(path, text);
    return 0;
  } catch (error) {
    stderr.write(`ERROR cannot write ${path}: ${(error as Error).message}\n`);
    return 1;
  }
}
