import { type DataObject, getKey, setKey } from '#contract';
import { localName, readXmlEvents } from './events.ts';
import { trimXml } from './text.ts';

interface Open {
  readonly name: string;
  /** Attributes and children; null until the first one. */
  parts: DataObject | null;
  text: string;
}

/**
 * Converts an XML document to data: the root element is the only key. Attributes become keys with a leading `-`,
 * repeated children become lists, text next to attributes or children becomes the key `#text`, and an element with only
 * text becomes that text. Prefixes of names and surrounding white space of text are removed; every value is text.
 * Pieces of text between children are joined.
 * As a collection, the same object is placed under the key `collection`.
 *
 * @throws Error with the parser's message; `EOF` for an empty body.
 */
export function readXml(bytes: Uint8Array, asCollection: boolean): DataObject {
  const document: DataObject = {};
  const path: Open[] = [];
  readXmlEvents(bytes, {
    open(name, attributes) {
      let members: DataObject | null = null;
      for (const key in attributes) {
        members ??= {};
        members[`-${localName(key)}`] = attributes[key]!;
      }
      path.push({ name: localName(name), parts: members, text: '' });
    },
    text(text) {
      path[path.length - 1]!.text += text;
    },
    close() {
      const element = path.pop()!;
      const parent = path[path.length - 1];
      const value = contentOf(element);
      if (parent) {
        parent.parts ??= {};
        append(parent.parts, element.name, value);
      } else {
        setKey(document, element.name, value);
      }
    },
  });
  return asCollection ? { collection: document } : document;
}

function contentOf({ parts: members, text }: Open): DataObject | string {
  const trimmed = trimXml(text);
  if (!members) return trimmed;
  if (trimmed !== '') members['#text'] = trimmed;
  return members;
}

function append(members: DataObject, name: string, value: DataObject | string): void {
  const known = getKey(members, name);
  if (known === undefined) setKey(members, name, value);
  else if (Array.isArray(known)) known.push(value);
  else setKey(members, name, [known, value]);
}
