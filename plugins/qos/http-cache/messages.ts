import type { Entry } from './entry.ts';
import type { Landing } from './flights.ts';
import type { Asker } from './identity.ts';

/** What a worker asks the process that owns the store. `by` is the worker. */
export type Question =
  | {
      readonly does: 'find';
      readonly by: string;
      readonly key: string;
      readonly asker: Asker;
      /** Flat list of the request's headers. */
      readonly headers: readonly string[];
      /** When the answer came that the worker has itself; null for none. */
      readonly heldSince: number | null;
    }
  | {
      readonly does: 'put';
      readonly by: string;
      readonly entry: Entry;
      /** As of the request it was made for. */
      readonly asker: Asker;
      readonly headers: readonly string[];
      /** When it was asked for: see `moment`. */
      readonly askedAt: number;
    }
  | { readonly does: 'land'; readonly by: string; readonly key: string; readonly landing: Landing }
  | { readonly does: 'drop'; readonly by: string; readonly keys: readonly string[] }
  | { readonly does: 'clear'; readonly by: string };

/** What it gets: an answer that is good; leave to fetch it; or that another worker does, whose end it will hear of. */
export type Response = {
  readonly does: 'give' | 'fetch' | 'wait' | 'done';
  /** What is kept and newer than what the worker has; with `fetch` and `wait` it is stale. */
  readonly entry: Entry | null;
};

/** What every worker hears of the store. `by` is the one that knows it already. */
export type News =
  | { readonly does: 'drop' | 'renew'; readonly by: string; readonly keys: readonly string[] }
  | { readonly does: 'land'; readonly by: string; readonly key: string; readonly landing: Landing }
  | { readonly does: 'clear'; readonly by: string };

/** A message as bytes: the length of its text, the text, and the body of its entry. */
export function pack(message: Question | Response | News): Uint8Array {
  const entry = 'entry' in message ? message.entry : null;
  const slim = entry === null ? message : { ...message, entry: { ...entry, body: entry.body && 0 } };
  const text = Buffer.from(JSON.stringify(slim));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text, entry?.body ?? new Uint8Array()]);
}

/** The message again. */
export function unpack<Message extends Question | Response | News>(bytes: Uint8Array): Message {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = 4 + all.readUInt32BE(0);
  const message = JSON.parse(all.toString('utf8', 4, end)) as Message;
  if (!('entry' in message) || message.entry === null) return message;
  // A copy of its own: the bytes it came in may be a part of something larger.
  const body = message.entry.body === null ? null : copyOf(all.subarray(end));
  return { ...message, entry: { ...message.entry, body } };
}

function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
