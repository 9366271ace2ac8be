import { type DataObject, definePlugin, isObject } from '#contract';
import { readJson } from './lib/json-body.ts';

/**
 * Decodes any JSON value: an object as it is, an array under `collection`, a scalar or `null` under `content`.
 * @throws Error with the parser's message.
 */
function decode(bytes: Uint8Array): DataObject {
  const data = readJson(bytes);
  if (isObject(data)) return data;
  return Array.isArray(data) ? { collection: data } : { content: data };
}

/** JSON of any type, for backends whose type of response is not known in advance. Input only. */
export const plugin = definePlugin({
  name: 'encoding/safejson',
  description:
    'Reads any JSON value. An array is returned under the key "collection", a scalar under the key "content".',
  encodings: [{ name: 'safejson', readsField: 'content', decode }],
});
