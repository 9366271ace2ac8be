import { type Data, type DataObject, type Log, parseExact, Query, setKey } from '#contract';
import { readXml } from '../documents/xml-reader.ts';

/** How bodies of a media type are read; throws an Error with the parser's text. */
type Read = (bytes: Uint8Array) => Data;

const kinds: readonly (readonly [type: RegExp, read: Read])[] = [
  [/^(?:application|text)\/(?:[\w.-]+\+)?json$/, (bytes) => parseExact(textOf(bytes))],
  [/^(?:application|text)\/(?:[\w.-]+\+)?xml$/, (bytes) => readXml(bytes, false)],
];

const forms: Read = (bytes) => {
  const fields: DataObject = {};
  for (const [name, values] of Query.parse(textOf(bytes))) setKey(fields, name, values);
  return fields;
};

/** What reads documents of a `Content-Type`; null for a type that holds no document. */
export function documentReader(contentType: string): Read | null {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return kinds.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/**
 * A body as data, as its `Content-Type` says: JSON, which it is taken for without one, XML, or the fields of a form. Null
 * for what cannot be read, which a log is told.
 */
export function readBodyAs(contentType: string | undefined, bytes: Uint8Array, log?: Log): Data {
  const type = contentType ?? 'application/json';
  const read = /^application\/x-www-form-urlencoded\b/i.test(type) ? forms : documentReader(type);
  if (!read || bytes.length === 0) return null;
  try {
    return read(bytes);
  } catch (error) {
    log?.warning(() => `the body is no ${type}: ${(error as Error).message}`);
    return null;
  }
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
