import { extname } from 'node:path';
import type { ConfigError } from '#contract';
import { type Data, type DataObject, isObject } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { parentPointer, parsePointer } from '../../values/pointer.ts';
import { showValue } from '../schema/problem.ts';
import { json } from './json/text.ts';
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
import { toml } from './toml/text.ts';
import { isTooDeep, MAX_DEPTH, tooDeepBracket, tooDeepIn } from './too-deep.ts';
import { conflictMarks, UnreadableError, unreadable } from './unreadable.ts';
import { yaml } from './yaml/text.ts';

/** A configuration file, read and parsed but not yet validated. */
export interface Document {
  /** Path of the file, as the user wrote it. */
  readonly file: string;
  readonly text: string;
  /** The text that positions refer to: the content of the file. For a template, it differs from `text`. */
  readonly written: string;
  /** Rendering of the text from a template; absent if the file is not a template. */
  readonly rendering?: Rendering;
  /** An object; numbers that JavaScript would change are exact numbers. */
  readonly data: unknown;
  /** Warnings about the text that do not cause rejection. */
  readonly warnings: readonly ConfigError[];
  readonly valueAt: ValueAt;
  readonly locate: Locate;
}

/** Sources and output of a rendered configuration. */
export interface Rendering {
  /** Settings, templates, partials and included files. */
  readonly files: readonly string[];
  /** Path that the result was written to; null for none. */
  readonly out: string | null;
  /** Template variables; null if not requested. */
  readonly variables: DataObject | null;
}

/** Format of a configuration text. */
export type FormatName = 'json' | 'yaml' | 'toml';

/** Format of a file by its extension; undefined for an unknown extension. */
export function formatNameOf(file: string): FormatName | undefined {
  return names[extname(file).toLowerCase()];
}

const names: Readonly<Record<string, FormatName>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.toml': 'toml',
};

/** Parser for a file; JSON for an unknown extension. */
export function formatOf(file: string): Format {
  return formats[formatNameOf(file) ?? 'json'];
}

const formats: Readonly<Record<FormatName, Format>> = { json, yaml, toml };

/** Decodes the text of a file. @param file for messages. @throws UnreadableError CONFIG_SYNTAX if it is not UTF-8. */
export function decodeText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    const start = text.indexOf('\ufffd');
    throw unreadable(text, file, [syntaxFault('the text is not UTF-8', { start, end: start + 1 })]);
  }
}

/** Maximum number of bytes decoded at once: one to four milliseconds. Larger files are decoded in pieces, each at several times the cost. */
const AT_ONCE = 1 << 22;
const CHUNK = 1 << 18;

/** Like `decodeText`, but in short slices. */
export async function decodeInSlices(bytes: Uint8Array, file: string): Promise<string> {
  if (bytes.length <= AT_ONCE) return decodeText(bytes, file);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const texts: string[] = [];
  try {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      texts.push(decoder.decode(bytes.subarray(at, at + CHUNK), { stream: true }));
      if (scheduler.due) await scheduler.yield();
    }
    texts.push(decoder.decode());
    await scheduler.yield();
    // `join` makes one flat string; a concatenation would be flattened on first access, at an unpredictable time.
    const text = texts.join('');
    await scheduler.yield();
    return text;
  } catch {
    return decodeText(bytes, file);
  }
}

/**
 * Parses the text of a configuration file.
 * @param file path, for its extension and for messages.
 * @throws UnreadableError CONFIG_SYNTAX, also for an unsupported format, and CONFIG_DUPLICATE_KEY: every error with its
 *   position, except those that only follow from an earlier one.
 */
export function parseDocument(source: string, file: string): Document {
  const text = textToParse(source, file);
  return documentFrom(parse(text, formatOf(file), file), text, file);
}

/** Replaces a byte order mark with a space. @throws UnreadableError CONFIG_SYNTAX for an unsupported format. */
export function textToParse(source: string, file: string): string {
  const text = source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;
  demandFormat(file, text);
  return text;
}

/** @param parsed parsed text without faults. @throws UnreadableError if the data is not an object. */
export function documentFrom({ data, comment }: Parsed, text: string, file: string): Document {
  if (!isObject(data)) {
    const start = text.length - text.trimStart().length;
    const range = { start, end: Math.max(start, text.trimEnd().length) };
    throw unreadable(text, file, [syntaxFault(`the document must be an object, found ${showValue(data)}`, range)]);
  }
  const warnings = comment ? [commentWarning(file, lineIndex(text)(comment))] : [];
  return documentOf(file, text, data, warnings);
}

/** Creates a document from parsed data. */
export function documentOf(file: string, text: string, data: unknown, warnings: readonly ConfigError[] = []): Document {
  const valueAt = valuesOf(data);
  return { file, text, written: text, data, warnings, valueAt, locate: locator(text, formatOf(file), valueAt) };
}

/** Suffixes that older releases of KrakenD supported; files with any other suffix may be JSON. */
const OTHER_FORMATS = /\.(?:properties|props?|hcl)$/i;

/** @throws UnreadableError CONFIG_SYNTAX for an unsupported format. */
function demandFormat(file: string, text: string): void {
  if (!OTHER_FORMATS.test(file)) return;
  const message = `unknown configuration format "${extname(file)}": use .json, .yaml, .yml or .toml`;
  throw unreadable(text, file, [
    syntaxFault(message, { start: 0, end: 0 }, 'write the configuration as JSON, YAML or TOML'),
  ]);
}

function valuesOf(data: unknown): ValueAt {
  return (pointer) =>
    parsePointer(pointer).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value && Object.hasOwn(value, step) ? value[step as never] : undefined,
      data,
    );
}

/** Replaces the data of a document; values that the original does not contain are placed at the innermost existing parent. */
export function withData(document: Document, data: DataObject, text: string): Document {
  const locate: Locate = (pointer, which, range) => {
    const position = document.locate(pointer, which);
    if (position || pointer === '') return range ? (document.locate(pointer, which, range) ?? position) : position;
    return locate(parentPointer(pointer), 'value');
  };
  return { ...document, data, text, valueAt: valuesOf(data), locate };
}

function commentWarning(file: string, position: Position): ConfigError {
  const reason = 'comments are not part of JSON: other tools may reject this file';
  return new PositionedError('CONFIG_COMMENTS', '', reason, { file, position });
}

/** Parses any text in the format of its file. @throws UnreadableError like `parseDocument`. */
export function readText(
  text: string,
  file: string,
): { readonly data: Data; readonly warnings: readonly ConfigError[] } {
  const { data, comment } = parse(text, formatOf(file), file);
  return { data: data as Data, warnings: comment ? [commentWarning(file, lineIndex(text)(comment))] : [] };
}

/** Parses any JSON value. @param file for messages. @throws UnreadableError like `parseDocument`. */
export function parseJson(text: string, file: string): Data {
  return parse(text, json, file).data as Data;
}

function parse(text: string, format: Format, file: string): Parsed {
  const parsed = parseAsFormat(text, format, file);
  refuseFaults(parsed, text, file);
  if ((isObject(parsed.data) || Array.isArray(parsed.data)) && isTooDeep(parsed.data)) {
    const find = () => format.finder(text)(parsePointer(tooDeepIn(parsed.data as object)), 'value');
    throw tooDeep(text, file, tooDeepBracket(text) ?? find());
  }
  return parsed;
}

/** @throws UnreadableError if the text has faults. */
export function refuseFaults({ faults }: Parsed, text: string, file: string): void {
  if (faults.length === 0) return;
  const conflict = conflictMarks(text);
  throw unreadable(text, file, conflict ? [conflict] : asTemplateFaults(text, faults));
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

/** Error for a text that is invalid as a whole, without a position. */
export function wrongAsAWhole(text: string, file: string, reason: string, cause?: unknown): UnreadableError {
  return new UnreadableError(text, [new PositionedError('CONFIG_SYNTAX', '', reason, { file, cause })]);
}

/** Finds positions in a text, which is parsed again, with positions, on first use. */
function locator(text: string, format: Format, valueAt: ValueAt): Locate {
  let find: Finder | undefined;
  let position: ((range: TextRange) => Position) | undefined;
  return (pointer, which, range) => {
    find ??= format.finder(text);
    const steps = parsePointer(pointer);
    const value = range && valueAt(pointer);
    // A range within a value that is not a string refers to the range of its key.
    const isOfKey = which === 'key' || (range !== undefined && typeof value !== 'string');
    const span = find(steps, isOfKey ? 'key' : 'value');
    if (!span) return undefined;
    position ??= lineIndex(text);
    return position(range ? narrowed(text, format, span, isOfKey ? steps.at(-1) : value, range) : span);
  };
}

/** Part of a literal that corresponds to a range of its value; the whole literal if it is not a string. */
function narrowed(text: string, format: Format, span: TextRange, value: unknown, range: TextRange): TextRange {
  const source = text.slice(span.start, span.end);
  const style = typeof value === 'string' ? format.literalStyle(source) : undefined;
  if (!style) return span;
  const { start, end } = withinLiteral(source, value as string, style, range);
  return { start: span.start + start, end: span.start + end };
}
