import { definePlugin } from '#contract';
import { jsonEncoding } from './lib/json-encoding.ts';

/** JSON, input and output. Bodies that no component reads are validated and passed through as bytes. */
export const plugin = definePlugin({
  name: 'encoding/json',
  description: 'Reads JSON objects (arrays with is_collection) and writes JSON.',
  encodings: [jsonEncoding],
});
