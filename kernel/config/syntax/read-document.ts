import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { fileErrorReason } from '../../values/file-error-reason.ts';
import { loadRegularFile } from '../../values/regular-file.ts';
import { parseAside } from './large/parse-aside.ts';
import { reparseDocument } from './large/reparse.ts';
import { type Document, decodeInSlices, parseDocument } from './load.ts';

/** Environment variables that enable templates or interpolation. */
const VARIABLES = ['FC_ENABLE', 'FC_CONFIG', 'GATEWAY_ENV_INTERPOLATION'] as const;

/**
 * The document that is currently served; `aside` if requests are served but its text cannot be reused; null while no
 * requests are served.
 */
export type Before = Document | 'aside' | null;

/** File in the working directory that defines how the configuration is assembled. */
const EXTENDED = 'flexible_config.json';

/**
 * Reads a configuration file. The extension determines the format, JSON if it is unknown. The environment or the working
 * directory can make the file a template.
 * @param onRead called for everything that is read, even if it cannot be parsed: with the bytes of a file, the names in a
 *   directory, or null for anything unreadable.
 * @param before see `parseAfter`. A serving gateway reads only regular files; a command may read a pipe.
 * @throws ConfigErrors CONFIG_READ if the file cannot be read; the errors of `parseDocument` and `assemble`.
 */
export async function readDocument(
  path: string,
  onRead: (path: string, content: Uint8Array | readonly string[] | null) => void = () => {},
  before: Before = null,
): Promise<Document> {
  let bytes: Uint8Array;
  try {
    bytes = await (before ? loadRegularFile(path) : readFile(path));
  } catch (error) {
    onRead(path, null);
    const message = `cannot read ${path}: ${fileErrorReason(error)}`;
    throw new ConfigErrors([new ConfigError('CONFIG_READ', '', message, { cause: error })]);
  }
  onRead(path, bytes);
  if (!isAssembled()) return parseAfter(before, await decodeInSlices(bytes, path), path);
  // The template engine is loaded on demand, because most configurations are not templates.
  const { assemble } = await import('../flexible/assemble.ts');
  return assemble(path, bytes, process.env, onRead);
}

/**
 * Parses a text like `parseDocument`, without blocking requests.
 * @param before document that is served now: if possible, only the differences from it are parsed.
 */
export async function parseAfter(before: Before, text: string, file: string): Promise<Document> {
  if (!before) return parseDocument(text, file);
  const changed = before === 'aside' ? null : await reparseDocument(before, text, file);
  return changed ?? parseAside(text, file);
}

/** True if the environment or the working directory makes configurations templates. */
function isAssembled(): boolean {
  return VARIABLES.some((name) => process.env[name]) || existsSync(EXTENDED);
}

/** Rejects templates in commands that modify a file: a template must be edited by hand. @throws ConfigErrors CONFIG_NOT_SUPPORTED. */
export function demandPlain(path: string): void {
  if (!isAssembled()) return;
  const message = `${path} is a template or contains environment variables: change it by hand`;
  throw new ConfigErrors([new ConfigError('CONFIG_NOT_SUPPORTED', '', message)]);
}
