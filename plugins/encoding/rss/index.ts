import { type DataObject, definePlugin } from '#contract';
import { nestingError } from '../../engines/documents/nesting.ts';
import { readAtom } from './atom.ts';
import { readJsonFeed } from './json-feed.ts';
import { readRss } from './rss.ts';
import { readTree } from './tree.ts';

/**
 * Decodes a feed: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 and JSON Feed all become the same object.
 * @throws Error with the parser's message, or when the body is not a feed.
 */
function decode(bytes: Uint8Array): DataObject {
  try {
    return isJson(bytes) ? readJsonFeed(bytes) : readXmlFeed(bytes);
  } catch (error) {
    throw nestingError(error);
  }
}

function isJson(bytes: Uint8Array): boolean {
  const first = bytes.findIndex((byte) => byte > 0x20 && byte < 0x80);
  return bytes[first] === 0x7b;
}

function readXmlFeed(bytes: Uint8Array): DataObject {
  const root = readTree(bytes);
  switch (root.name.toLowerCase()) {
    case 'rss':
    case 'rdf':
      return readRss(root);
    case 'feed':
      return readAtom(root);
    default:
      throw new Error(`not a feed: root element ${JSON.stringify(root.name)}`);
  }
}

/** News feeds. Input only. */
export const plugin = definePlugin({
  name: 'encoding/rss',
  description: 'Reads RSS, Atom and JSON feeds into one object with the items of the feed.',
  encodings: [{ name: 'rss', decode }],
});
