import { definePlugin } from '#contract';
import { passJson, readJsonObject, writeJson } from './lib/json-body.ts';
import { mergeJson } from './lib/json-merge.ts';
import { shapeJson } from './lib/json-shape.ts';

/** JSON, input and output. Bodies that no component reads are validated and passed through as bytes. */
export const plugin = definePlugin({
  name: 'encoding/json',
  description: 'Reads JSON objects (arrays with is_collection) and writes JSON.',
  encodings: [
    { name: 'json', decode: readJsonObject, encode: writeJson, passes: passJson, shapes: shapeJson, merges: mergeJson },
  ],
});
