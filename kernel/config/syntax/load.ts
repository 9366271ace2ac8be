import { extname } from 'node:path';
import type { ConfigError } from '#contract';
import { type Data, type DataObject, isObject } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { parentPointer, parsePointer } from '../../values/pointer.ts';
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
  /** The text that places are places of: that of the file, which of a template is another one. */
  readonly written: string;
  /** How a template made it; absent where the file is none. */
  readonly rendering?: Rendering;
  /** An object; numbers that JavaScript would change are exact numbers. */
  readonly data: unknown;
  /** What is odd about the text but does not refuse it. */
  readonly warnings: readonly ConfigError[];
  readonly valueAt: ValueAt;
  readonly locate: Locate;
}

/** What a configuration was made of. */
export interface Rendering {
  /** Settings, templates, partials and files that are included. */
  readonly files: readonly string[];
  /** Where the result was written; null for nowhere. */
  readonly out: string | null;
  /** The variables; null where nobody asked for them. */
  readonly variables: DataObject | null;
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

/** How much is decoded at once, in bytes: one to four milliseconds. More goes in pieces, each at several times the cost. */
const AT_ONCE = 1 << 22;
const CHUNK = 1 << 18;

/** As `decodeText`, in short slices. */
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
    // One flat text: that of a sum would be made by whoever first looks into it.
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
 * @throws UnreadableError CONFIG_SYNTAX, also for a format that is not read, CONFIG_DUPLICATE_KEY: every mistake with its place, as far as one can be told
 *   from what follows of it.
 */
export function parseDocument(source: string, file: string): Document {
  const text = textToParse(source, file);
  return documentFrom(parse(text, formatOf(file), file), text, file);
}

/** With a space in the place of a byte order mark. @throws UnreadableError CONFIG_SYNTAX for a format that is not read. */
export function textToParse(source: string, file: string): string {
  const text = source.charCodeAt(0) === 0xfeff ? ` ${source.slice(1)}` : source;
  demandFormat(file, text);
  return text;
}

/** @param parsed what its text says, without faults. @throws UnreadableError where that is no object. */
export function documentFrom({ data, comment }: Parsed, text: string, file: string): Document {
  if (!isObject(data)) {
    const start = text.length - text.trimStart().length;
    const range = { start, end: Math.max(start, text.trimEnd().length) };
    throw unreadable(text, file, [syntaxFault(`the document must be an object, found ${showValue(data)}`, range)]);
  }
  const warnings = comment ? [commentWarning(file, lineIndex(text)(comment))] : [];
  return documentOf(file, text, data, warnings);
}

/** A document whose text has been parsed. */
export function documentOf(file: string, text: string, data: unknown, warnings: readonly ConfigError[] = []): Document {
  const valueAt = valuesOf(data);
  return { file, text, written: text, data, warnings, valueAt, locate: locator(text, formatOf(file), valueAt) };
}

/** Suffixes of older releases of the compatible product; what else there is may be JSON. */
const OTHER_FORMATS = /\.(?:properties|props?|hcl)$/i;

/** @throws UnreadableError CONFIG_SYNTAX for a format that is not read. */
function demandFormat(file: string, text: string): void {
  if (!OTHER_FORMATS.test(file)) return;
  const message = `unknown configuration format "${extname(file)}": use .json, .yaml, .yml or .toml`;
  throw unreadable(text, file, [syntaxFault(message, { start: 0, end: 0 }, 'write it as JSON, YAML or TOML')]);
}

function valuesOf(data: unknown): ValueAt {
  return (pointer) =>
    parsePointer(pointer).reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value && Object.hasOwn(value, step) ? value[step as never] : undefined,
      data,
    );
}

/** A document with other data in its place: what it does not have itself is placed at what it stands in. */
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

/** Parses a text of any kind, as its file is written. @throws UnreadableError as `parseDocument`. */
export function readText(
  text: string,
  file: string,
): { readonly data: Data; readonly warnings: readonly ConfigError[] } {
  const { data, comment } = parse(text, formatOf(file), file);
  return { data: data as Data, warnings: comment ? [commentWarning(file, lineIndex(text)(comment))] : [] };
}

/** Parses JSON of any kind. @param file for messages. @throws UnreadableError as `parseDocument`. */
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

/** @throws UnreadableError where a text has faults. */
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

/** A text of which no place is wrong by itself. */
export function wrongAsAWhole(text: string, file: string, reason: string, cause?: unknown): UnreadableError {
  return new UnreadableError(text, [new PositionedError('CONFIG_SYNTAX', '', reason, { file, cause })]);
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
