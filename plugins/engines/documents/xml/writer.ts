import { type Data, type DataObject, type Encoded, isObject } from '#contract';
import { BoundedText } from '../bounded-text.ts';
import { nestingError } from '../nesting.ts';
import { isScalar, type Scalar, scalarText } from '../scalar.ts';
import { attributeText, elementText, xmlName } from './text.ts';

const contentType = 'application/xml';

/**
 * Writes data as XML, without declaration or indentation.
 *
 * - A single top-level key is the root element, unless it contains a list with members, or is text or an attribute; then,
 *   and for any other number of keys, the root is `doc`. No data is an empty body.
 * - Keys that start with `-` and contain a scalar are attributes, a scalar under `#text` is the text, all others are child
 *   elements. Attributes and children are sorted by key. A list repeats its tag; nested lists are flattened.
 * - Keys that are not valid XML names are converted: invalid characters become `_`, and `_` precedes a first character
 *   that is only valid later in a name (`9 lives` is `_9_lives`). Attributes with equal names get a number (`a_b`,
 *   `a_b_2`). Characters that XML does not allow become U+FFFD.
 *
 * @throws Error if the data is nested too deeply, or the text would be longer than 128 Mi characters.
 */
export function writeXml(data: DataObject | null): Encoded {
  if (data === null) return { contentType, body: '' };
  try {
    const keys = Object.keys(data);
    const key = keys.length === 1 ? keys[0]! : '';
    const text = new BoundedText();
    if (keys.length === 1 && isRoot(key, data[key]!)) writeElement(text, xmlName(key), data[key]!);
    else writeElement(text, 'doc', data);
    return { contentType, body: text.toString() };
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

/** Writes one element, or one for each member of a list. */
function writeElement(text: BoundedText, name: string, value: Data): void {
  if (Array.isArray(value)) {
    if (!writeMembers(text, name, value)) text.add(`<${name}/>`);
  } else if (isObject(value)) {
    writeObject(text, name, value);
  } else {
    const content = scalarText(value);
    text.add(content === '' ? `<${name}/>` : `<${name}>${elementText(content)}</${name}>`);
  }
}

/** @returns false without members, including in nested lists. */
function writeMembers(text: BoundedText, name: string, list: readonly Data[]): boolean {
  let isAny = false;
  for (const member of list) {
    if (Array.isArray(member)) {
      isAny = writeMembers(text, name, member) || isAny;
    } else {
      writeElement(text, name, member);
      isAny = true;
    }
  }
  return isAny;
}

function writeObject(text: BoundedText, name: string, object: DataObject): void {
  let names: UniqueNames | null = null;
  const children: string[] = [];
  let content = '';
  text.add(`<${name}`);
  for (const key of Object.keys(object).sort()) {
    const segment = object[key]!;
    if (isAttribute(key, segment)) {
      names ??= new UniqueNames();
      text.add(` ${names.take(xmlName(key.slice(1)))}="${attributeText(scalarText(segment))}"`);
    } else if (isText(key, segment)) {
      content = scalarText(segment);
    } else {
      children.push(key);
    }
  }
  if (content === '' && children.length === 0) return text.add('/>');
  text.add(`>${elementText(content)}`);
  for (const key of children) writeElement(text, xmlName(key), object[key]!);
  text.add(`</${name}>`);
}

/** Assigns unique names: a name already in use gets the first free number appended. */
class UniqueNames {
  /** Every assigned name, with the last number appended to it. */
  readonly #given = new Map<string, number>();

  take(name: string): string {
    let number = this.#given.get(name);
    let free = name;
    if (number !== undefined) {
      do {
        number++;
        free = `${name}_${number}`;
      } while (this.#given.has(free));
      this.#given.set(name, number);
    }
    this.#given.set(free, 1);
    return free;
  }
}
