import type { EachMessage, MessageReader } from '#contract';
import { LineCutter } from './lines.ts';
import { readObject, rewriteObject } from './payload.ts';

const COLON = 58;
const emptyLine = Buffer.from('\n');

/**
 * Rewrites a stream of server-sent events. Comments are emitted at once, so that they can keep a connection alive;
 * everything else waits for the blank line that ends its message. Data after the last blank line is emitted without
 * one, so that the incomplete message does not become complete.
 */
export function openEvents(each: EachMessage | null, emit: (bytes: Uint8Array) => void): MessageReader {
  let event: string | null = null;
  let id: string | null = null;
  let retry: string | null = null;
  let data: string[] = [];
  let commented = false;

  const cutter = new LineCutter({ name: 'sse', carriageReturns: true, line });

  function line(bytes: Uint8Array): boolean {
    if (bytes.length === 0) {
      finish('\n');
      return false;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    if (bytes[0] === COLON) {
      commented = true;
      emit(Buffer.from(`${text}\n`));
      return false;
    }
    const colon = text.indexOf(':');
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'retry') retry = value;
    else return false;
    return true;
  }

  function isEmpty(): boolean {
    return data.length === 0 && event === null && id === null && retry === null;
  }

  /** @param ending line ending written after a message. */
  function finish(ending: string): void {
    cutter.restart();
    if (isEmpty()) {
      if (commented && ending !== '') emit(emptyLine);
    } else {
      const lines = data.length > 0 && each ? rewrite(data, each) : data;
      if (lines !== null) emit(Buffer.from(print(event, id, retry, lines) + ending));
    }
    event = id = retry = null;
    data = [];
    commented = false;
  }

  return {
    write: (chunk) => cutter.write(chunk),
    end() {
      cutter.end();
      finish('');
    },
  };
}

function rewrite(lines: readonly string[], each: EachMessage): readonly string[] | null {
  const object = readObject(lines.length === 1 ? lines[0]! : lines.join('\n'));
  if (object === null) return lines;
  const text = rewriteObject(object, each);
  return text === null ? null : [text];
}

function print(event: string | null, id: string | null, retry: string | null, data: readonly string[]): string {
  let text = '';
  if (event !== null) text += `event: ${event}\n`;
  if (id !== null) text += `id: ${id}\n`;
  if (retry !== null) text += `retry: ${retry}\n`;
  for (const line of data) text += `data: ${line}\n`;
  return text;
}
