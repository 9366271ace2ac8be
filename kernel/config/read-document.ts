import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '#contract';
import { ConfigErrors } from '../contract/internal.ts';
import { fileTrouble } from '../values/file-trouble.ts';
import { loadRegularFile } from '../values/regular-file.ts';
import { type Document, decodeInSlices, parseDocument } from './syntax/load.ts';
import { parseAside } from './syntax/parse-aside.ts';
import { reparseDocument } from './syntax/reparse.ts';

/** Variables that have a file rendered, or filled in. */
const VARIABLES = ['FC_ENABLE', 'FC_CONFIG', 'GATEWAY_ENV_INTERPOLATION'] as const;

/** Beside a configuration, in the working directory: how it is made. */
const EXTENDED = 'flexible_config.json';

/**
 * Reads a configuration file; the format follows from the extension, JSON where it tells nothing. Where the environment or
 * the working directory says so, the file is a template.
 * @param onRead told what was read, also when it cannot be parsed: bytes of a file, names in a directory, null for what
 *   cannot be read.
 * @param before as of `parseAfter`. Where something serves already, only a regular file is read; a command may read a pipe.
 * @throws ConfigErrors CONFIG_READ when the file cannot be read; else as `parseDocument` and `assemble`.
 */
export async function readDocument(
  path: string,
  onRead: (path: string, content: Uint8Array | readonly string[] | null) => void = () => {},
  before: Document | null = null,
): Promise<Document> {
  let bytes: Uint8Array;
  try {
    bytes = await (before ? loadRegularFile(path) : readFile(path));
  } catch (error) {
    onRead(path, null);
    const message = `cannot read ${path}: ${fileTrouble(error)}`;
    throw new ConfigErrors([new ConfigError('CONFIG_READ', '', message, { cause: error })]);
  }
  onRead(path, bytes);
  if (!isAssembled()) return parseAfter(before, await decodeInSlices(bytes, path), path);
  // Loaded where it is needed: most configurations are no templates.
  const { assemble } = await import('./flexible/assemble.ts');
  return assemble(path, bytes, process.env, onRead);
}

/**
 * Parses a text as `parseDocument` does; what serves goes on serving.
 * @param before what serves: only what has changed is parsed where that is possible. Null for nothing.
 */
export async function parseAfter(before: Document | null, text: string, file: string): Promise<Document> {
  if (!before) return parseDocument(text, file);
  return (await reparseDocument(before, text, file)) ?? parseAside(text, file);
}

/** Whether the environment or the working directory says that configurations are templates. */
function isAssembled(): boolean {
  return VARIABLES.some((name) => process.env[name]) || existsSync(EXTENDED);
}

/** For what changes a file: a template has to be changed by hand. @throws ConfigErrors CONFIG_NOT_SUPPORTED. */
export function demandPlain(path: string): void {
  if (!isAssembled()) return;
  const message = `${path} is a template, or filled in from the environment: change it by hand`;
  throw new ConfigErrors([new ConfigError('CONFIG_NOT_SUPPORTED', '', message)]);
}
