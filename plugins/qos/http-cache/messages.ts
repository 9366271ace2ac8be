import type { Entry } from './entry.ts';

/** What the stores of several processes are told. */
export type Message =
  | { readonly does: 'put'; readonly by: string; readonly entry: Entry }
  | { readonly does: 'drop'; readonly by: string; readonly keys: readonly string[] }
  | { readonly does: 'clear'; readonly by: string };

/** A message as bytes: the length of its text, the text, and the body of its entry. */
export function pack(message: Message): Uint8Array {
  const body = message.does === 'put' ? message.entry.body : null;
  const slim = message.does === 'put' ? { ...message, entry: { ...message.entry, body: body && 0 } } : message;
  const text = Buffer.from(JSON.stringify(slim));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text, body ?? new Uint8Array()]);
}

/** The message again. */
export function unpack(bytes: Uint8Array): Message {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = 4 + all.readUInt32BE(0);
  const message = JSON.parse(all.toString('utf8', 4, end)) as Message;
  if (message.does !== 'put') return message;
  // A copy of its own: the bytes it came in may be a part of something larger.
  const body = message.entry.body === null ? null : Buffer.from(new Uint8Array(all.subarray(end)).buffer);
  return { ...message, entry: { ...message.entry, body } };
}
