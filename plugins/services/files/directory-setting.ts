import { statSync } from 'node:fs';
import type { Schema, Site } from '#contract';

/** The fields by which a component names the directory that it serves. */
export const directoryFields = {
  path: {
    type: 'string',
    minLength: 1,
    description:
      'The directory, absolute or relative to the working directory. Files are read when they are asked for; hidden ones, and links that lead out of the directory, are not served.',
    examples: ['./public'],
  },
  directory_listing: {
    type: 'boolean',
    description: 'List directories that have no index.html.',
    default: false,
  },
} as const satisfies Record<string, Schema>;

/** Where `path` is no directory: STATIC_PATH. @param at pointer of the field. @throws ConfigError */
export function checkDirectory({ fault }: Site<unknown>, path: string, at = '/path'): void {
  let problem = 'is no directory';
  try {
    if (statSync(path).isDirectory()) return;
  } catch (error) {
    problem = `cannot be read: ${(error as NodeJS.ErrnoException).code}`;
  }
  throw fault('STATIC_PATH', at, `${path} ${problem}`, { hint: 'a directory, relative to the working directory' });
}
