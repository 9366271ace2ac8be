import { isAbsolute, resolve } from 'node:path';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENAMETOOLONG: 'the path is too long',
  ERR_INVALID_ARG_VALUE: 'the path contains a null byte',
  ELOOP: 'too many symbolic links',
  EMFILE: 'the process has run out of file descriptors (EMFILE)',
  ENFILE: 'the system has run out of file descriptors (ENFILE)',
};

/** Why a file could not be read, in an operator's words. @param cause what the file system threw. */
export function fileTrouble(cause: unknown): string {
  const { code = '', message = String(cause) } = cause as Partial<NodeJS.ErrnoException>;
  return Object.hasOwn(reasons, code) ? reasons[code]! : message;
}

/**
 * That a file named in a configuration could not be read, and why. Paths are relative to the working directory: where
 * that led is told too.
 */
export function unreadableFile(path: string, cause: unknown): string {
  const place = isAbsolute(path) ? path : `${path} (${resolve(path)})`;
  return `cannot read ${place}: ${fileTrouble(cause)}`;
}
