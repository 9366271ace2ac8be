import { type Data, type DataObject, type Encoded, isObject } from '#contract';
import { nestingError } from './nesting.ts';
import { isScalar, type Scalar, scalarText } from './scalar.ts';
import { attributeText, elementText, xmlName } from './xml-text.ts';

const contentType = 'application/xml';

/**
 * Data as XML, without declaration or indentation.
 *
 * - A single top-level key is the root element, unless it holds a list with members, or is text or an attribute; then,
 *   and for any other number of keys, the root is `doc`. No data is an empty body.
 * - Keys that start with `-` and hold a scalar are attributes, a scalar under `#text` is the text, all else are child
 *   elements. Attributes and children are sorted by key. A list repeats its tag; lists in lists count as one.
 * - A key that is no XML name is made one: characters that cannot stand in a name become `_`, and `_` is put before a
 *   first character that can only stand later (`9 lives` is `_9_lives`). Attributes that would share a name get more
 *   underscores. Characters that XML cannot hold become U+FFFD.
 *
 * @throws Error when the data is nested too deeply.
 */
export function writeXml(data: DataObject | null): Encoded {
  if (data === null) return { contentType, body: '' };
  try {
    const keys = Object.keys(data);
    const key = keys.length === 1 ? keys[0]! : '';
    const body = keys.length === 1 && isRoot(key, data[key]!) ? element(key, data[key]!) : element('doc', data);
    return { contentType, body };
  } catch (error) {
    throw nestingError(error);
  }
}

function isRoot(key: string, value: Data): boolean {
  return Array.isArray(value) ? value.length === 0 : !isAttribute(key, value) && !isText(key, value);
}

function isAttribute(key: string, value: Data): value is Scalar {
  return key.length > 1 && key.charCodeAt(0) === 0x2d && isScalar(value);
}

function isText(key: string, value: Data): value is Scalar {
  return key === '#text' && isScalar(value);
}

/** One element, or one for each member of a list. */
function element(key: string, value: Data): string {
  const name = xmlName(key);
  if (Array.isArray(value)) return elements(key, value) || `<${name}/>`;
  let attributes = '';
  let content = '';
  if (isObject(value)) {
    let used: Set<string> | null = null;
    let children = '';
    for (const child of Object.keys(value).sort()) {
      const part = value[child]!;
      if (isAttribute(child, part)) {
        used ??= new Set();
        attributes += ` ${unused(child, used)}="${attributeText(scalarText(part))}"`;
      } else if (isText(child, part)) {
        content = elementText(scalarText(part));
      } else {
        children += element(child, part);
      }
    }
    content += children;
  } else {
    content = elementText(scalarText(value));
  }
  return content === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${content}</${name}>`;
}

function elements(key: string, list: readonly Data[]): string {
  let text = '';
  for (const member of list) text += Array.isArray(member) ? elements(key, member) : element(key, member);
  return text;
}

function unused(key: string, used: Set<string>): string {
  let name = xmlName(key.slice(1));
  while (used.has(name)) name += '_';
  used.add(name);
  return name;
}
