import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { ConfigError, ConfigErrors, isObject } from '#contract';
import { json } from './json-text.ts';
import { parsePointer } from './pointer.ts';
import { type Finder, lineIndex, type Part, PlacedError, type Position, type Stretch } from './position.ts';
import { showValue } from './problem.ts';
import type { Format } from './text-format.ts';
import { toml } from './toml-text.ts';
import { yaml } from './yaml-text.ts';

/** A configuration file, read and parsed but not yet looked at. */
export interface Document {
  /** The path as it was given. */
  readonly file: string;
  readonly text: string;
  /** An object; numbers that JavaScript would change are exact numbers. */
  readonly data: unknown;
  /** What is odd about the text but does not refuse it. */
  readonly warnings: readonly ConfigError[];
  /** Where a value, or the key before it, stands in the text; undefined when there is no such value. */
  locate(pointer: string, part: Part): Position | undefined;
}

const formats: Readonly<Record<string, Format>> = { '.yaml': yaml, '.yml': yaml, '.toml': toml };

/** Nested deeper than this is no configuration but an attack on the stack. */
const MAX_DEPTH = 200;

/**
 * Reads a configuration file; the format follows from the extension, JSON where it tells nothing.
 * @throws ConfigErrors CONFIG_READ when the file cannot be read; CONFIG_NOT_SUPPORTED when the environment says that it
 *   is a template; else as `parseDocument`.
 */
export async function readDocument(path: string): Promise<Document> {
  if (process.env.FC_ENABLE) {
    throw refusal('CONFIG_NOT_SUPPORTED', 'FC_ENABLE: configuration templates are not supported yet');
  }
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw refusal('CONFIG_READ', `cannot read ${path}: ${reason(error as NodeJS.ErrnoException)}`, error);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refusal('CONFIG_SYNTAX', `${path}: the text is not UTF-8`, error);
  }
  return parseDocument(text, path);
}

/**
 * Parses the text of a configuration file.
 * @param file path, for its extension and for messages.
 * @throws ConfigErrors CONFIG_SYNTAX with line and column; CONFIG_DUPLICATE_KEY.
 */
export function parseDocument(source: string, file: string): Document {
  const text = source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;
  const format = formats[extname(file).toLowerCase()] ?? json;
  let parsed: ReturnType<Format['parse']>;
  try {
    parsed = format.parse(text);
  } catch (error) {
    throw new ConfigErrors([syntaxError(text, file, error as Error & { stretch?: Stretch })]);
  }
  const { data, faults, hadComments } = parsed;
  if (!isObject(data))
    throw refusal('CONFIG_SYNTAX', `${file}: the document must be an object, found ${showValue(data)}`);
  if (isDeeperThan(data, MAX_DEPTH)) throw refusal('CONFIG_SYNTAX', `${file}: nested deeper than ${MAX_DEPTH} levels`);
  if (faults.length > 0) {
    const place = lineIndex(text);
    throw new ConfigErrors(
      faults.map(
        ({ code, pointer, message, stretch }) => new PlacedError(code, pointer, message, { position: place(stretch) }),
      ),
    );
  }
  const warnings = hadComments
    ? [new ConfigError('CONFIG_COMMENTS', '', 'comments are not part of JSON: other tools may refuse this file')]
    : [];
  return { file, text, data, warnings, locate: locator(text, format) };
}

/** The text is parsed again, with places, when a place is first asked for. */
function locator(text: string, format: Format): Document['locate'] {
  let find: Finder | undefined;
  let place: ((stretch: Stretch) => Position) | undefined;
  return (pointer, part) => {
    find ??= format.finder(text);
    const stretch = find(parsePointer(pointer), part);
    if (!stretch) return undefined;
    place ??= lineIndex(text);
    return place(stretch);
  };
}

function syntaxError(text: string, file: string, error: Error & { stretch?: Stretch }): ConfigError {
  const message = error instanceof RangeError ? 'nested too deeply' : error.message.split('\n', 1)[0]!;
  if (!error.stretch) return new ConfigError('CONFIG_SYNTAX', '', `${file}: ${message}`, { cause: error });
  const position = lineIndex(text)(error.stretch);
  const where = `${file}:${position.line}:${position.column}`;
  return new PlacedError('CONFIG_SYNTAX', '', `${where}: ${message}`, { position, cause: error });
}

function refusal(code: string, message: string, cause?: unknown): ConfigErrors {
  return new ConfigErrors([new ConfigError(code, '', message, { cause })]);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
};

function reason(error: NodeJS.ErrnoException): string {
  return REASONS[error.code ?? ''] ?? error.message;
}

/** Without recursion: the depth is what is not yet known to be harmless. */
function isDeeperThan(data: object, limit: number): boolean {
  let level: object[] = [data];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: object[] = [];
    for (const value of level) {
      for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}
