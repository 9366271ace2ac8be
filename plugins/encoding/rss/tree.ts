import { localName, readXmlEvents } from '../../services/documents/xml-events.ts';
import { attributeText, elementText, trimXml } from '../../services/documents/xml-text.ts';
import { Prefixes } from './prefixes.ts';

export interface Element {
  /** Without its prefix. */
  readonly name: string;
  /** The usual prefix of its namespace (`dc`, `itunes`), whatever the document calls it; empty for the feed's own. */
  readonly space: string;
  /** As written in the document. */
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  /** Text and children in document order. */
  readonly content: (string | Element)[];
}

/** Namespaces that are known by more than one prefix, and those of the feeds themselves. */
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

/** The document as a tree. @throws Error with the parser's text. */
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

/** Atom elements belong to the feed where the feed is Atom; within RSS they are an extension. */
function spaceOf(tag: string, prefixes: Prefixes, root: Element | undefined): string {
  const colon = tag.indexOf(':');
  const prefix = colon < 0 ? '' : tag.slice(0, colon);
  const uri = prefixes.get(prefix);
  if (uri === undefined) return prefix;
  if (atomSpaces.includes(uri)) return !root || root.name === 'feed' ? '' : 'atom';
  return spaces.get(uri) ?? prefix;
}

/** The first child with that name; in the feed's own namespace when no other is given. */
export function child(element: Element, name: string, space = ''): Element | undefined {
  return element.children.find((member) => member.name === name && member.space === space);
}

export function childrenOf(element: Element, name: string, space = ''): Element[] {
  return element.children.filter((member) => member.name === name && member.space === space);
}

/** The text of the first such child, trimmed; empty when there is none. Markup within it is kept as markup. */
export function textOf(element: Element, name: string, space = ''): string {
  const match = child(element, name, space);
  return match ? inner(match) : '';
}

/** What stands in an element: its text, or markup where it has children. */
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
