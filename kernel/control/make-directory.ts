import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Only the gateway's own user may look: what is kept there holds secrets. */
const DIRECTORY_MODE = 0o700;

/**
 * Makes a directory with its parents; one that is there already stays as it is. Level by level, because asking the system
 * for all of them never returns where one cannot be made, as below `/proc`.
 * @throws the error of the file system.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, DIRECTORY_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeDirectory(parent);
    // A parent that is there, and yet nothing can be made in it, is refused here for good.
    await mkdir(path, DIRECTORY_MODE).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}
