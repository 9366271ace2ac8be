import { ByteStream, type Data, type DataObject, isObject, type Reply, toCallError } from '#contract';
import { EventRestorer } from './event-restorer.ts';
import type { Placeholders } from './placeholders.ts';

/** Restores the redacted values in a response, chunk by chunk. */
export interface Restorer {
  write(text: string): string;
  /** Returns the rest of the text at the end of the response. */
  end(): string;
}

/** Headers that describe the original bytes of the response. */
const ofTheBytes = ['content-length', 'etag', 'content-md5', 'digest', 'repr-digest', 'content-digest'];

/** Replaces placeholders in a response by their values, in data, bytes and streams. */
export function restoreReply(reply: Reply, placeholders: Placeholders): void {
  if (reply.data) reply.data = restoreData(reply.data, placeholders) as DataObject;
  const { body, headers } = reply;
  if (!body || !isText(headers.get('content-type') ?? '') || isCompressed(headers.get('content-encoding'))) return;
  for (const name of ofTheBytes) headers.delete(name);
  const restorer = restorerFor(headers.get('content-type') ?? '', placeholders);
  if (body instanceof Uint8Array) {
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
    reply.body = Buffer.from(restorer.write(text) + restorer.end());
  } else reply.body = restoreStream(body, restorer);
}

function isText(contentType: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  return /^(?:text\/|application\/.*(?:json|xml))/i.test(contentType) && /^utf-?8$/i.test(charset);
}

function isCompressed(encoding: string | undefined): boolean {
  return encoding !== undefined && !/^(?:\s*identity)?\s*$/i.test(encoding);
}

function restorerFor(contentType: string, placeholders: Placeholders): Restorer {
  if (/^text\/event-stream\b/i.test(contentType)) return new EventRestorer(placeholders);
  const isJson = /[/+](?:x-)?(?:nd)?json\b|jsonl/i.test(contentType);
  return new TextRestorer(placeholders, isJson ? (value) => JSON.stringify(value).slice(1, -1) : undefined);
}

/** Restores a text that arrives in pieces, which can end within a placeholder. */
class TextRestorer implements Restorer {
  readonly #placeholders: Placeholders;
  readonly #write: ((value: string) => string) | undefined;
  #held = '';

  constructor(placeholders: Placeholders, write: ((value: string) => string) | undefined) {
    this.#placeholders = placeholders;
    this.#write = write;
  }

  write(piece: string): string {
    const text = this.#held + piece;
    const length = text.length - this.#placeholders.incomplete(text);
    this.#held = text.slice(length);
    return this.#placeholders.restore(text.slice(0, length), this.#write);
  }

  end(): string {
    return this.#held;
  }
}

/** Restores all strings of data, also keys, in a copy. Iterative: data can be nested deeply. */
export function restoreData(value: Data, placeholders: Placeholders): Data {
  const result: Data[] = [value];
  const waiting: (Data[] | DataObject)[] = [result];
  const copyOf = (original: Data): Data => {
    if (typeof original === 'string') return placeholders.restore(original);
    if (!Array.isArray(original) && !isObject(original)) return original;
    const copy = Array.isArray(original)
      ? [...original]
      : Object.fromEntries(Object.entries(original).map(([key, member]) => [placeholders.restore(key), member]));
    waiting.push(copy);
    return copy;
  };
  for (let container = waiting.pop(); container; container = waiting.pop()) {
    const members = container as DataObject;
    for (const key of Object.keys(members)) members[key] = copyOf(members[key]!);
  }
  return result[0]!;
}

function restoreStream(body: ByteStream, restorer: Restorer): ByteStream {
  const output = new ByteStream({ resume: () => body.resume(), cancel: (reason) => body.cancel(reason) });
  const decoder = new TextDecoder();
  const emit = (text: string): boolean => (text === '' ? true : output.write(Buffer.from(text)));
  body.flow({
    write(chunk) {
      try {
        return emit(restorer.write(decoder.decode(chunk, { stream: true })));
      } catch (error) {
        const failure = toCallError(error);
        body.cancel(failure);
        output.fail(failure);
        return true;
      }
    },
    end() {
      emit(restorer.write(decoder.decode()) + restorer.end());
      output.end();
    },
    fail: (error) => output.fail(error),
  });
  return output;
}
