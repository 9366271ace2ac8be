import type { Schema, Site } from '#contract';

/** Schema fields of the directory that a component serves. */
export const directoryFields = {
  path: {
    type: 'string',
    minLength: 1,
    description:
      'Directory to serve, absolute or relative to the working directory. Files are read on request. Hidden files, and links that lead out of the directory, are not served.',
    examples: ['./public'],
  },
  directory_listing: {
    type: 'boolean',
    description: 'Lists directories that have no index.html.',
    default: false,
  },
} as const satisfies Record<string, Schema>;

/** Checks that `path` is a directory. @param at pointer of the field. @throws ConfigError STATIC_PATH */
export function checkDirectory({ fault, isDirectory }: Site<unknown>, path: string, at = '/path'): void {
  const refuse = (problem: string, cause?: unknown) =>
    fault('STATIC_PATH', at, `${path} ${problem}`, {
      hint: 'name a directory, relative to the working directory',
      cause,
    });
  let isThere: boolean;
  try {
    isThere = isDirectory(path);
  } catch (error) {
    throw refuse(`cannot be read: ${(error as NodeJS.ErrnoException).code}`, error);
  }
  if (!isThere) throw refuse('is not a directory');
}
