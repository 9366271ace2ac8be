import { isUtf8 } from 'node:buffer';
import { type Data, type DataObject, type Encoded, isObject, type Passed, parseExact, printJson } from '#contract';
import { nestingError } from '../../engines/documents/nesting.ts';
import { contentType, isBlank, objectBounds } from './json-bounds.ts';
import { isJsonObject } from './json-bytes.ts';

/**
 * Parses any JSON value; numbers keep their digits, invalid UTF-8 is replaced, a byte order mark is skipped.
 * @throws Error with the parser's message; `EOF` for an empty or blank body.
 */
export function readJson(bytes: Uint8Array): Data {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    return parseExact(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw text.trim() === '' ? new Error('EOF') : nestingError(error);
  }
}

/**
 * Parses a JSON object or, as a collection, a JSON array, which becomes the key `collection`. Null for `null`.
 * @throws Error with the parser's message, or when the value is of another type.
 */
export function readJsonObject(bytes: Uint8Array, asCollection: boolean): DataObject | null {
  const data = readJson(bytes);
  if (data === null) return null;
  if (asCollection) {
    if (Array.isArray(data)) return { collection: data };
    throw new Error(`expected a JSON array, got ${kindOf(data)}`);
  }
  if (isObject(data)) return data;
  throw new Error(`expected a JSON object, got ${kindOf(data)}`);
}

/** Writes compact JSON, with keys in their existing order. Null becomes `{}`. @throws Error when the data is nested too deeply. */
export function writeJson(data: DataObject | null): Encoded {
  return writeJsonValue(data ?? {});
}

/** Encodes a value of any type, like `writeJson`. */
export function writeJsonValue(value: Data): Encoded {
  try {
    return { contentType, body: printJson(value) };
  } catch (error) {
    throw nestingError(error);
  }
}

/**
 * Passes a JSON object in valid UTF-8 through unchanged, without the surrounding white space; duplicate keys and
 * escapes stay as sent. Returns null for anything else that can be decoded.
 * @throws Error with the parser's message.
 */
export function passJson(bytes: Uint8Array, asCollection: boolean): Passed | null {
  if (asCollection) return null;
  const { start, end } = objectBounds(bytes);
  if (isUtf8(bytes) && isJsonObject(bytes, start, end)) {
    const body = end - start === bytes.length ? bytes : bytes.subarray(start, end);
    return { contentType, body, empty: isEmpty(body) };
  }
  readJsonObject(bytes, false);
  return null;
}

function isEmpty(object: Uint8Array): boolean {
  let at = 1;
  while (isBlank(object[at]!)) at++;
  return object[at] === 0x7d;
}

function kindOf(data: Data): string {
  if (Array.isArray(data)) return 'an array';
  if (isObject(data)) return 'an object';
  return `a ${typeof data === 'object' ? 'number' : typeof data}`;
}
