import { isUtf8 } from 'node:buffer';
import { type DataObject, definePlugin, type Encoded, getKey, type Passed } from '#contract';

const contentType = 'text/plain; charset=utf-8';

/** Decodes the whole body as the key `content`; invalid UTF-8 is replaced. */
function decode(bytes: Uint8Array): DataObject {
  return { content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() };
}

/** Encodes the text of the key `content`; an empty body when it is missing or not a string. */
function encode(data: DataObject | null): Encoded {
  const content = data === null ? undefined : getKey(data, 'content');
  return { contentType, body: typeof content === 'string' ? content : '' };
}

/** Passes text in valid UTF-8 through unchanged. */
function passes(bytes: Uint8Array): Passed | null {
  return isUtf8(bytes) ? { contentType, body: bytes, empty: false } : null;
}

/** Plain text, input and output. */
export const plugin = definePlugin({
  name: 'encoding/string',
  description: 'Reads the whole body as text, which is returned under the key "content", and writes only that text.',
  encodings: [{ name: 'string', writesField: 'content', readsField: 'content', decode, encode, passes }],
});
