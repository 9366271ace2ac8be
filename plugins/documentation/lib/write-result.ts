import { writeFile } from 'node:fs/promises';
import type { CommandCall } from '#contract';

/** How a file is written. */
interface Writing {
  /** Refuses to replace a file. Default: false. */
  readonly isNew?: boolean;
}

/** Writes what a command made, to standard output for `-`, and names the file. @returns the exit code. */
export async function writeResult(
  path: string,
  text: string,
  { stdout, stderr }: CommandCall,
  { isNew = false }: Writing = {},
): Promise<number> {
  if (path === '-') {
    stdout.write(text);
    return 0;
  }
  try {
    await writeFile(path, text, { flag: isNew ? 'wx' : 'w' });
    // Not on standard output, where the other file of a command may go.
    stderr.write(`Wrote ${path}\n`);
    return 0;
  } catch (error) {
    const isThere = isNew && (error as NodeJS.ErrnoException).code === 'EEXIST';
    const reason = isThere
      ? `${path} exists: name the file with -o`
      : `cannot write ${path}: ${(error as Error).message}`;
    stderr.write(`ERROR ${reason}\n`);
    return 1;
  }
}
