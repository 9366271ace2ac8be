import { definePlugin } from '#contract';
import { jsonEncoding } from './lib/json-encoding.ts';

/** Alias of `json`. Both names share one implementation, the fast one. */
export const plugin = definePlugin({
  name: 'encoding/fast-json',
  description: 'Alias of json.',
  encodings: [{ ...jsonEncoding, name: 'fast-json', aliasOf: 'json' }],
});
