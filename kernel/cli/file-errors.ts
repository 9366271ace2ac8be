import { fileTrouble } from '../contract/internal.ts';

/** That a file of the command line could not be read, and why. @param error what the file system threw. */
export function cannotRead(path: string, error: unknown): string {
  return `cannot read ${path}: ${fileTrouble(error)}`;
}

/** That a file could not be written, and why. @param error what the file system threw. */
export function cannotWrite(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot write ${path}: ${code === 'ENOENT' ? 'no such directory' : fileTrouble(error)}`;
}
