import { localName, readXmlEvents } from '../../engines/documents/xml/events.ts';
import { attributeText, elementText, trimXml } from '../../engines/documents/xml/text.ts';
import { Prefixes } from './prefixes.ts';

export interface Element {
  /** Name without its prefix. */
  readonly name: string;
  /** Conventional prefix of the element's namespace (`dc`, `itunes`), regardless of the document's own prefix; empty for the feed's namespace. */
  readonly space: string;
  /** Name as written in the document. */
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  /** Texts and children in document order. */
  readonly content: (string | Element)[];
}

/** Namespaces known by more than one prefix, and those of the feeds themselves. */
const spaces: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/1999/02/22-rdf-syntax-ns#', ''],
  ['http://purl.org/rss/1.0/', ''],
  ['http://my.netscape.com/rdf/simple/0.9/', ''],
  ['http://channel.netscape.com/rdf/simple/0.9/', ''],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://purl.org/dc/elements/1.0/', 'dc'],
  ['http://www.itunes.com/dtds/podcast-1.0.dtd', 'itunes'],
  ['http://www.itunes.com/DTDs/Podcast-1.0.dtd', 'itunes'],
  ['http://purl.org/rss/1.0/modules/content/', 'content'],
  ['http://search.yahoo.com/mrss/', 'media'],
]);

const atomSpaces = ['http://www.w3.org/2005/Atom', 'http://purl.org/atom/ns#'];

/** Parses a document into a tree. @throws Error with the parser's message. */
export function readTree(bytes: Uint8Array): Element {
  const path: Element[] = [];
  const prefixes = new Prefixes();
  let root: Element | undefined;
  readXmlEvents(bytes, {
    open(tag, attributes) {
      prefixes.open(attributes);
      const element: Element = {
        name: localName(tag),
        space: spaceOf(tag, prefixes, root),
        tag,
        attributes,
        children: [],
        content: [],
      };
      root ??= element;
      const parent = path[path.length - 1];
      parent?.children.push(element);
      parent?.content.push(element);
      path.push(element);
    },
    text(text) {
      path[path.length - 1]!.content.push(text);
    },
    close() {
      path.pop();
      prefixes.close();
    },
  });
  return root!;
}

/** Namespace of an element. Elements of Atom belong to the feed itself in an Atom feed, and are extensions in RSS. */
function spaceOf(tag: string, prefixes: Prefixes, root: Element | undefined): string {
  const colon = tag.indexOf(':');
  const prefix = colon < 0 ? '' : tag.slice(0, colon);
  const uri = prefixes.get(prefix);
  if (uri === undefined) return prefix;
  if (atomSpaces.includes(uri)) return !root || root.name === 'feed' ? '' : 'atom';
  return spaces.get(uri) ?? prefix;
}

/** First child with the name; in the feed's own namespace unless another is given. */
export function child(element: Element, name: string, space = ''): Element | undefined {
  return element.children.find((member) => member.name === name && member.space === space);
}

export function childrenOf(element: Element, name: string, space = ''): Element[] {
  return element.children.filter((member) => member.name === name && member.space === space);
}

/** Trimmed text of the first child with the name; empty without one. Markup in it is preserved. */
export function textOf(element: Element, name: string, space = ''): string {
  const match = child(element, name, space);
  return match ? inner(match) : '';
}

/** Content of an element: its text, or markup when it has children. */
export function inner(element: Element): string {
  const plain = element.children.length === 0;
  let text = '';
  for (const segment of element.content) {
    if (typeof segment !== 'string') text += outerMarkup(segment);
    else text += plain ? segment : elementText(segment);
  }
  return trimXml(text);
}

function outerMarkup({ tag, attributes, content }: Element): string {
  let text = `<${tag}`;
  for (const key in attributes) text += ` ${key}="${attributeText(attributes[key]!)}"`;
  if (content.length === 0) return `${text}/>`;
  text += '>';
  for (const segment of content) text += typeof segment === 'string' ? elementText(segment) : outerMarkup(segment);
  return `${text}</${tag}>`;
}
