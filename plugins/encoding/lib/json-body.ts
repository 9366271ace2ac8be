import { isUtf8 } from 'node:buffer';
import { type Data, type DataObject, type Encoded, isObject, type Passed, parseExact, printJson } from '#contract';
import { nestingError } from '../../services/documents/nesting.ts';
import { contentType, isBlank, objectBounds } from './json-bounds.ts';
import { isJsonObject } from './json-bytes.ts';

/**
 * Any JSON value; numbers keep their digits, invalid UTF-8 is replaced, a byte order mark is skipped.
 * @throws Error with the parser's text; `EOF` when there is nothing but white space.
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
 * A JSON object; as a collection a JSON array, which becomes the key `collection`. Null for `null`.
 * @throws Error with the parser's text, or when the value is of another kind.
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

/** Compact JSON, keys in the order they have. No data is `{}`. @throws Error when the data is nested too deeply. */
export function writeJson(data: DataObject | null): Encoded {
  return writeJsonValue(data ?? {});
}

/** As `writeJson`, for any value. */
export function writeJsonValue(value: Data): Encoded {
  try {
    return { contentType, body: printJson(value) };
  } catch (error) {
    throw nestingError(error);
  }
}

/**
 * A JSON object in valid UTF-8 passes as it is, without the white space around it; repeated keys and escapes stay as
 * they were sent. Anything else that can be decoded does not pass.
 * @throws Error with the parser's text.
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
