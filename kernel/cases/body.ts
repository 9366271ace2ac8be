import { type Data, parseExact, printJson } from '#contract';

/** Bytes of a body in a test file: a string is sent unchanged, any other value as JSON. */
export function bytesOf(body: Data): Uint8Array {
  return Buffer.from(typeof body === 'string' ? body : printJson(body));
}

export function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString();
}

/** Parses a JSON body. @returns undefined if it is not JSON. */
export function jsonOf(body: Uint8Array): Data | undefined {
  try {
    return parseExact(textOf(body)) as Data;
  } catch {
    return undefined;
  }
}
