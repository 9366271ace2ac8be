import { type Data, parseExact } from '#contract';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Parses a schema written as an object, or as its JSON in base64. @throws Error with a description of the problem. */
export function schemaOf(written: unknown): Data {
  if (typeof written !== 'string') return written as Data;
  const text = written.replace(/\s+/g, '');
  if (!BASE64.test(text)) throw new Error('is neither an object nor base64');
  try {
    return parseExact(Buffer.from(text, 'base64').toString()) as Data;
  } catch (error) {
    throw new Error(`is base64, but the decoded text is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
