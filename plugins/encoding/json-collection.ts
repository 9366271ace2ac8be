import { type DataObject, definePlugin, type Encoded, getKey } from '#contract';
import { writeJsonValue } from './lib/json-body.ts';

/** Writes the value of the key `collection` alone, whatever it is; other keys go. Without that key: an empty array. */
function encode(data: DataObject | null): Encoded {
  const collection = data === null ? undefined : getKey(data, 'collection');
  return writeJsonValue(collection === undefined ? [] : collection);
}

/** JSON arrays for the client. Output only. */
export const plugin = definePlugin({
  name: 'encoding/json-collection',
  description: 'Writes the array under the key "collection" as the whole response body.',
  encodings: [{ name: 'json-collection', encode }],
});
