import { definePlugin } from '#contract';
import { readXml } from './lib/xml-reader.ts';
import { writeXml } from './lib/xml-writer.ts';

/** XML, in and out. */
export const plugin = definePlugin({
  name: 'encoding/xml',
  description: 'Reads and writes XML: attributes are keys with a leading -, text beside them is the key #text.',
  encodings: [{ name: 'xml', decode: readXml, encode: writeXml }],
});
