import { type Data, parseExact, parseHolding, type RawNumber } from '#contract';

/** Finds a number that JavaScript may print in another form than it is written in. */
const formOfItsOwn = /\d[.eE]|-0/;

/**
 * Parses JSON so that every number prints as it is written.
 * @throws SyntaxError
 */
export function parseAsWritten(bytes: Uint8Array): Data {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return formOfItsOwn.test(text) ? parseHolding(text, asWritten) : parseExact(text);
}

function asWritten(source: string): number | RawNumber {
  const value = Number(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}
