import { type Data, parseExact } from '#contract';

/** A number that JavaScript would print in another form than it may be written in. */
const formOfItsOwn = /\d[.eE]|-0/;

/**
 * Parses JSON so that every number prints as it is written.
 * @throws SyntaxError
 */
export function parseAsWritten(bytes: Uint8Array): Data {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  if (!formOfItsOwn.test(text)) return parseExact(text);
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source!) : value,
  ) as Data;
}
