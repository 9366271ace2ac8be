import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Without O_NONBLOCK, opening a named pipe waits for a writer. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const NOT_REGULAR = 'is not a regular file';

/**
 * Reads a regular file. Named pipes and devices are rejected: reading them may never end.
 * @throws the error of the file system, EISDIR for a directory.
 */
export function readRegularFile(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw new Error(NOT_REGULAR);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Same as `readRegularFile`, without blocking the event loop. */
export async function loadRegularFile(path: string): Promise<Buffer> {
  await using handle = await open(path, FLAGS);
  const stats = await handle.stat();
  if (!stats.isFile() && !stats.isDirectory()) throw new Error(NOT_REGULAR);
  return await handle.readFile();
}
