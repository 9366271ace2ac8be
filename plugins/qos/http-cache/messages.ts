import type { Entry } from './entry.ts';
import type { Landing } from './flights.ts';
import type { Asker } from './identity.ts';

/** Message from a worker to the process that owns the store. `by` is the worker. */
export type Question =
  | {
      readonly does: 'find';
      readonly by: string;
      readonly key: string;
      readonly asker: Asker;
      /** Flat list of the request's headers. */
      readonly headers: readonly string[];
      /** Arrival time of the worker's own response; null when it has none. */
      readonly heldSince: number | null;
    }
  | {
      readonly does: 'put';
      readonly by: string;
      readonly entry: Entry;
      /** Service that the request addressed, its credentials and its caller. */
      readonly asker: Asker;
      readonly headers: readonly string[];
      /** Time of the request, as returned by `moment`. */
      readonly requestedAt: number;
    }
  | { readonly does: 'land'; readonly by: string; readonly key: string; readonly landing: Landing }
  | { readonly does: 'drop'; readonly by: string; readonly keys: readonly string[] }
  | { readonly does: 'clear'; readonly by: string };

/** Reply to a question: a usable response, permission to fetch, or the notice that another worker is fetching and will report the end. */
export type Response = {
  readonly does: 'give' | 'fetch' | 'wait' | 'done';
  /** Stored response, if newer than the worker's own; with `fetch` and `wait` it is stale. */
  readonly entry: Entry | null;
};

/** Message about the store to all workers. `by` is the worker that already knows it. */
export type News =
  | { readonly does: 'drop' | 'renew'; readonly by: string; readonly keys: readonly string[] }
  | { readonly does: 'land'; readonly by: string; readonly key: string; readonly landing: Landing }
  | { readonly does: 'clear'; readonly by: string };

/** Serializes a message: the length of its text, the text, and the body of its entry. */
export function pack(message: Question | Response | News): Uint8Array {
  const entry = 'entry' in message ? message.entry : null;
  const slim = entry === null ? message : { ...message, entry: { ...entry, body: entry.body && 0 } };
  const text = Buffer.from(JSON.stringify(slim));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text, entry?.body ?? new Uint8Array()]);
}

/** Deserializes a message. */
export function unpack<Message extends Question | Response | News>(bytes: Uint8Array): Message {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = 4 + all.readUInt32BE(0);
  const message = JSON.parse(all.toString('utf8', 4, end)) as Message;
  if (!('entry' in message) || message.entry === null) return message;
  // The body is copied, because the received bytes may be part of a larger buffer.
  const body = message.entry.body === null ? null : copyOf(all.subarray(end));
  return { ...message, entry: { ...message.entry, body } };
}

function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
