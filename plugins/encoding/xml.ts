import { definePlugin } from '#contract';
import { readXml } from '../engines/documents/xml/reader.ts';
import { writeXml } from '../engines/documents/xml/writer.ts';

/** XML, input and output. */
export const plugin = definePlugin({
  name: 'encoding/xml',
  description:
    'Reads and writes XML. Attributes become keys with a leading "-"; the text of an element with attributes becomes the key "#text".',
  encodings: [{ name: 'xml', decode: readXml, encode: writeXml }],
});
