import { SaxesParser } from 'saxes';
import { decodeXml } from './charset.ts';
import { trimXml } from './text.ts';

/** Deepest nesting allowed. */
const MAX_DEPTH = 10_000;
/** Maximum number of attributes allowed on an element. */
const MAX_ATTRIBUTES = 25_000;

/** Events of a document, in document order. Names are as written, including the prefix. */
export interface XmlEvents {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  /** Character data, including CDATA sections; may arrive in several pieces. */
  text(text: string): void;
  close(): void;
}

/** The five entities of XML, without the names of the object prototype. */
const entities: Record<string, string> = { __proto__: null as never, amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" };

/**
 * Reads a document strictly. A document type is skipped unread: entities it declares are unknown, so using one is an
 * error, and nothing is ever fetched.
 * @throws Error with the parser's text; `EOF` for an empty body; when nested deeper than 10,000 levels, and for
 *   more than 25,000 attributes of one element.
 */
export function readXmlEvents(bytes: Uint8Array, events: XmlEvents): void {
  const text = decodeXml(bytes);
  if (trimXml(text) === '') throw new Error('EOF');
  const parser = new SaxesParser();
  let depth = 0;
  let attributes = 0;
  parser.ENTITIES = entities;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('attribute', () => {
    if (++attributes > MAX_ATTRIBUTES) throw new Error(`an XML element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    if (++depth > MAX_DEPTH) throw new Error(`XML nested deeper than ${MAX_DEPTH} levels`);
    events.open(tag.name, tag.attributes);
  });
  parser.on('text', (segment) => {
    if (depth > 0) events.text(segment);
  });
  parser.on('cdata', (segment) => {
    if (depth > 0) events.text(segment);
  });
  parser.on('closetag', () => {
    depth--;
    events.close();
  });
  parser.write(text).close();
}

/** The name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
