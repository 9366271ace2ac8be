import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { ConfigError, type Data, isObject } from '#contract';
import { ConfigErrors, fileTrouble } from '../../contract/internal.ts';
import { parsePointer } from '../../values/pointer.ts';
import { showValue } from '../schema/problem.ts';
import { json } from './json-text.ts';
import {
  type Finder,
  type Locate,
  lineIndex,
  type Position,
  PositionedError,
  type TextRange,
  type ValueAt,
} from './position.ts';
import { withinLiteral } from './string-literal.ts';
import { asTemplateFaults } from './template.ts';
import { type Format, type Parsed, syntaxFault } from './text-format.ts';
import { toml } from './toml-text.ts';
import { isTooDeep, MAX_DEPTH, tooDeepBracket, tooDeepIn } from './too-deep.ts';
import { conflictMarks, UnreadableError, unreadable } from './unreadable.ts';
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
  readonly valueAt: ValueAt;
  readonly locate: Locate;
}

/** How the text of a configuration is written. */
export type FormatName = 'json' | 'yaml' | 'toml';

/** How the text of a file is written, as its extension tells; undefined where it tells nothing. */
export function formatNameOf(file: string): FormatName | undefined {
  return names[extname(file).toLowerCase()];
}

const names: Readonly<Record<string, FormatName>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.toml': 'toml',
};

/** How the text of a file is to be read; JSON where the extension tells nothing. */
export function formatOf(file: string): Format {
  return formats[formatNameOf(file) ?? 'json'];
}

const formats: Readonly<Record<FormatName, Format>> = { json, yaml, toml };

/**
 * Reads a configuration file; the format follows from the extension, JSON where it tells nothing.
 * @param onRead told what was found there, also when it cannot be parsed: its bytes, null when it cannot be read.
 * @throws ConfigErrors CONFIG_READ when the file cannot be read; CONFIG_NOT_SUPPORTED when the environment says that it
 *   is a template; else as `parseDocument`.
 */
export async function readDocument(
  path: string,
  onRead: (bytes: Uint8Array | null) => void = () => {},
): Promise<Document> {
  if (process.env.FC_ENABLE) {
    throw refusal('CONFIG_NOT_SUPPORTED', 'FC_ENABLE: configuration templates are not supported yet');
  }
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    onRead(null);
    throw refusal('CONFIG_READ', `cannot read ${path}: ${fileTrouble(error)}`, error);
  }
  onRead(bytes);
  return parseDocument(decodeText(bytes, path), path);
}

/** The text of a file. @param file for messages. @throws UnreadableError CONFIG_SYNTAX for what is not UTF-8. */
export function decodeText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    const start = text.indexOf('\ufffd');
    throw unreadable(text, file, [syntaxFault('the text is not UTF-8', { start, end: start + 1 })]);
  }
}

/**
 * Parses the text of a configuration file.
 * @param file path, for its extension and for messages.
 * @throws UnreadableError CONFIG_SYNTAX, CONFIG_DUPLICATE_KEY: every mistake with its place, as far as one can be told
 *   from what follows of it.
 */
export function parseDocument(source: string, file: string): Document {
  const text = source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;
  const format = formatOf(file);
  const { data, comment } = parse(text, format, file);
  if (!isObject(data)) {
    const start = text.length - text.trimStart().length;
    const range = { start, end: Math.max(start, text.trimEnd().length) };
    throw unreadable(text, file, [syntaxFault(`the document must be an object, found ${showValue(data)}`, range)]);
  }
  const warnings = comment ? [commentWarning(file, lineIndex(text)(comment))] : [];
  const valueAt = (pointer: string): unknown =>
    parsePointer(pointer).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value && Object.hasOwn(value, step) ? value[step as never] : undefined,
      data,
    );
  return { file, text, data, warnings, valueAt, locate: locator(text, format, valueAt) };
}

function commentWarning(file: string, position: Position): ConfigError {
  const reason = 'comments are not part of JSON: other tools may refuse this file';
  return new PositionedError('CONFIG_COMMENTS', '', reason, { file, position });
}

/** Parses JSON of any kind. @param file for messages. @throws UnreadableError as `parseDocument`. */
export function parseJson(text: string, file: string): Data {
  return parse(text, json, file).data as Data;
}

function parse(text: string, format: Format, file: string): Parsed {
  const parsed = parseAsFormat(text, format, file);
  if (parsed.faults.length > 0) {
    const conflict = conflictMarks(text);
    throw unreadable(text, file, conflict ? [conflict] : asTemplateFaults(text, parsed.faults));
  }
  if ((isObject(parsed.data) || Array.isArray(parsed.data)) && isTooDeep(parsed.data)) {
    const find = () => format.finder(text)(parsePointer(tooDeepIn(parsed.data as object)), 'value');
    throw tooDeep(text, file, tooDeepBracket(text) ?? find());
  }
  return parsed;
}

function parseAsFormat(text: string, format: Format, file: string): Parsed {
  try {
    return format.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(text, file, tooDeepBracket(text), error);
    throw wrongAsAWhole(text, file, (error as Error).message.split('\n', 1)[0]!, error);
  }
}

function tooDeep(text: string, file: string, range: TextRange | undefined, cause?: unknown): UnreadableError {
  const reason = `nested deeper than ${MAX_DEPTH} levels`;
  const error = range ? unreadable(text, file, [syntaxFault(reason, range)]) : wrongAsAWhole(text, file, reason);
  error.cause = cause;
  return error;
}

function wrongAsAWhole(text: string, file: string, reason: string, cause?: unknown): UnreadableError {
  return new UnreadableError(text, [new PositionedError('CONFIG_SYNTAX', '', reason, { file, cause })]);
}

function refusal(code: string, message: string, cause?: unknown): ConfigErrors {
  return new ConfigErrors([new ConfigError(code, '', message, { cause })]);
}

/** Finds places in a text, which is parsed again, with places, when one is first asked for. */
function locator(text: string, format: Format, valueAt: ValueAt): Locate {
  let find: Finder | undefined;
  let position: ((range: TextRange) => Position) | undefined;
  return (pointer, which, range) => {
    find ??= format.finder(text);
    const steps = parsePointer(pointer);
    const value = range && valueAt(pointer);
    // A range of what is no text is one of its key.
    const isOfKey = which === 'key' || (range !== undefined && typeof value !== 'string');
    const span = find(steps, isOfKey ? 'key' : 'value');
    if (!span) return undefined;
    position ??= lineIndex(text);
    return position(range ? narrowed(text, format, span, isOfKey ? steps.at(-1) : value, range) : span);
  };
}

/** The part of a literal in which a range of its value stands; all of it when it is no string. */
function narrowed(text: string, format: Format, span: TextRange, value: unknown, range: TextRange): TextRange {
  const source = text.slice(span.start, span.end);
  const style = typeof value === 'string' ? format.literalStyle(source) : undefined;
  if (!style) return span;
  const { start, end } = withinLiteral(source, value as string, style, range);
  return { start: span.start + start, end: span.start + end };
}
