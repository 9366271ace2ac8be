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
import { readXml } from '../documents/xml/reader.ts';

/** Reads documents of a media type from their text or bytes; throws an Error with the parser's message. */
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

/** The reader for documents of a `Content-Type`; null if the type is not a document. */
export function documentReader(contentType: string): Read | null {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return kinds.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/**
 * Converts a body to data according to its `Content-Type`: JSON, which is also the default, XML, or the fields of a
 * form. Null for a body that cannot be read, such as a form of more than 1,000 fields; the reason is logged.
 */
export function readBodyAs(contentType: string | undefined, bytes: Uint8Array, log?: Log): Data {
  return readAs(contentType, bytes, ({ message }, type) => {
    log?.warning(() => `the body is not valid ${type}: ${message}`);
  });
}

/** Converts a client's body in the same way. @throws CallError FORM_TOO_LARGE, 413. */
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
