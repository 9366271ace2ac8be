import { definePlugin } from '#contract';
import { passJson, readJsonObject, writeJson } from './lib/json-body.ts';

/** Alias of `json`. Both names share one implementation, the fast one. */
export const plugin = definePlugin({
  name: 'encoding/fast-json',
  description: 'Alias of json.',
  encodings: [{ name: 'fast-json', decode: readJsonObject, encode: writeJson, passes: passJson }],
});
