import { type Data, parseExact, parseHolding, type RawNumber } from '#contract';

/** Matches numbers that JavaScript may print differently than they were written. */
const formOfItsOwn = /\d[.eE]|-0/;

/**
 * Parses JSON so that every number prints as it was written.
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
