import { type DataObject, definePlugin, type Encoded, getKey } from '#contract';
import { writeJsonValue } from './lib/json-body.ts';

/** Encodes the value of the key `collection`, of any type, without the other keys; an empty array when the key is missing. */
function encode(data: DataObject | null): Encoded {
  const collection = data === null ? undefined : getKey(data, 'collection');
  return writeJsonValue(collection === undefined ? [] : collection);
}

/** JSON arrays for the client. Output only. */
export const plugin = definePlugin({
  name: 'encoding/json-collection',
  description: 'Writes only the array under the key "collection", as the whole response body.',
  encodings: [{ name: 'json-collection', encode }],
});
