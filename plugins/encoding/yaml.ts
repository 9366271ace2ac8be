import { definePlugin } from '#contract';
import { readYaml } from '../engines/documents/yaml/reader.ts';
import { writeYaml } from '../engines/documents/yaml/writer.ts';

/** YAML, input and output. */
export const plugin = definePlugin({
  name: 'encoding/yaml',
  description: 'Reads YAML mappings (with is_collection: sequences) and writes block-style YAML.',
  encodings: [{ name: 'yaml', decode: readYaml, encode: writeYaml }],
});
