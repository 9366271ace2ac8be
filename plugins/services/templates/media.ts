import {
  CallError,
  type Data,
  type DataObject,
  hasTooManyParameters,
  type Log,
  parseExact,
  Query,
  setKey,
} from '#contract';
import { readXml } from '../documents/xml-reader.ts';

/** How documents of a media type are read, from their text or its bytes; throws an Error with the parser's text. */
type Read = (document: string | Uint8Array) => Data;

const kinds: readonly (readonly [type: RegExp, read: Read])[] = [
  [/^(?:application|text)\/(?:[\w.-]+\+)?json$/, (document) => parseExact(textOf(document))],
  [
    /^(?:application|text)\/(?:[\w.-]+\+)?xml$/,
    (document) => readXml(typeof document === 'string' ? Buffer.from(document) : document, false),
  ],
];

const FORM = /^application\/x-www-form-urlencoded\b/i;

/** @throws CallError FORM_TOO_LARGE, 413. */
const forms: Read = (document) => {
  const text = textOf(document);
  if (hasTooManyParameters(text)) {
    throw new CallError('FORM_TOO_LARGE', 'the form has more than 1,000 fields', { view: { status: 413 } });
  }
  const fields: DataObject = {};
  for (const [name, values] of Query.parse(text)) setKey(fields, name, values);
  return fields;
};

/** What reads documents of a `Content-Type`; null for a type that holds no document. */
export function documentReader(contentType: string): Read | null {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return kinds.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/**
 * A body as data, as its `Content-Type` says: JSON, which it is taken for without one, XML, or the fields of a form. Null
 * for what cannot be read, such as a form of more than 1,000 fields, which a log is told.
 */
export function readBodyAs(contentType: string | undefined, bytes: Uint8Array, log?: Log): Data {
  return readAs(contentType, bytes, ({ message }, type) => {
    log?.warning(() => `the body is not valid ${type}: ${message}`);
  });
}

/** The body of a client, in the same way. @throws CallError FORM_TOO_LARGE, 413. */
export function readClientBody(contentType: string | undefined, bytes: Uint8Array, log?: Log): Data {
  return readAs(contentType, bytes, (error, type) => {
    if (error instanceof CallError) throw error;
    log?.warning(() => `the body is not valid ${type}: ${error.message}`);
  });
}

function readAs(
  contentType: string | undefined,
  bytes: Uint8Array,
  failed: (error: Error, type: string) => void,
): Data {
  const type = contentType ?? 'application/json';
  const read = FORM.test(type) ? forms : documentReader(type);
  if (!read || bytes.length === 0) return null;
  try {
    return read(bytes);
  } catch (error) {
    failed(error as Error, type);
    return null;
  }
}

export function textOf(bytes: string | Uint8Array): string {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
