import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Readable by the gateway's own user only, because the files in it contain secrets. */
const DIRECTORY_MODE = 0o700;

/**
 * Creates a directory and its parents; an existing one is left unchanged. Works level by level, because a recursive
 * mkdir never returns where a directory cannot be created, as below `/proc`.
 * @throws the file system's error.
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
    // If the parent exists but accepts no new entries, the second attempt fails with the same error, which is final.
    await mkdir(path, DIRECTORY_MODE).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}
