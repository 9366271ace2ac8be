import { fileErrorReason } from '../../contract/internal.ts';

/** Message for a file that cannot be read, with the reason. @param error thrown by the file system. */
export function cannotRead(path: string, error: unknown): string {
  return `cannot read ${path}: ${fileErrorReason(error)}`;
}

/** Message for a file that cannot be written, with the reason. @param error thrown by the file system. */
export function cannotWrite(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot write ${path}: ${code === 'ENOENT' ? 'no such directory' : fileErrorReason(error)}`;
}
