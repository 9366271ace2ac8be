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

/** User-facing reason why a file could not be read. @param cause the error of the file system. */
export function fileErrorReason(cause: unknown): string {
  const { code = '', message = String(cause) } = cause as Partial<NodeJS.ErrnoException>;
  return Object.hasOwn(reasons, code) ? reasons[code]! : message;
}

/**
 * Message about a configured file that could not be read, with the reason. Relative paths are followed by the absolute
 * ones, because they depend on the working directory.
 */
export function unreadableFile(path: string, cause: unknown): string {
  const place = isAbsolute(path) ? path : `${path} (${resolve(path)})`;
  return `cannot read ${place}: ${fileErrorReason(cause)}`;
}
