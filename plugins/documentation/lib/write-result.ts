import { writeFile } from 'node:fs/promises';
import type { CommandCall } from '#contract';

/** Options for writing a file. */
interface Writing {
  /** Whether to fail if the file exists. Default: false. */
  readonly isNew?: boolean;
}

/** Writes the output of a command to a file, or to standard output for `-`, and reports the file name. @returns the exit code. */
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
    // The message is written to standard error, because standard output may receive another file of the same command.
    stderr.write(`Wrote ${path}\n`);
    return 0;
  } catch (error) {
    const isThere = isNew && (error as NodeJS.ErrnoException).code === 'EEXIST';
    const reason = isThere
      ? `${path} already exists: name the output file with -o`
      : `cannot write ${path}: ${(error as Error).message}`;
    stderr.write(`ERROR ${reason}\n`);
    return 1;
  }
}
