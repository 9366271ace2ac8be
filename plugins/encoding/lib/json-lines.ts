import { type EachMessage, hasKeys, type MessageReader, printJson } from '#contract';
import { LineCutter } from './lines.ts';
import { readObject, rewriteObject } from './payload.ts';

const lineEnd = Buffer.from('\n');

/**
 * Rewrites newline-delimited JSON: objects become compact, other lines lose only the surrounding white space, and blank
 * lines are dropped. An object that was empty on arrival may be sent empty.
 */
export function openJsonLines(each: EachMessage | null, emit: (bytes: Uint8Array) => void): MessageReader {
  return new LineCutter({
    name: 'ndjson',
    carriageReturns: false,
    line(bytes) {
      const trimmed = trim(bytes);
      if (trimmed.length > 0) rewriteLine(trimmed, each, emit);
      return false;
    },
  });
}

function rewriteLine(line: Buffer, each: EachMessage | null, emit: (bytes: Uint8Array) => void): void {
  const object = readObject(line.toString());
  if (object === null) {
    emit(Buffer.concat([line, lineEnd]));
    return;
  }
  const text = hasKeys(object) ? rewritten(object, each) : rewrittenEmpty(each);
  if (text !== null) emit(Buffer.from(`${text}\n`));
}

function rewritten(object: Parameters<EachMessage>[0], each: EachMessage | null): string | null {
  return each ? rewriteObject(object, each) : printJson(object);
}

function rewrittenEmpty(each: EachMessage | null): string | null {
  const left = each ? each({}) : {};
  return left && printJson(left);
}

/** Removes JSON white space at both ends. */
function trim(bytes: Uint8Array): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

function isSpace(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13 || byte === 10;
}
