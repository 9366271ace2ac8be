import { type Data, type DataObject, getKey, setKey } from '#contract';
import { childrenOf, type Element, inner } from './tree.ts';

const dublinCore = [
  'title',
  'creator',
  'author',
  'subject',
  'description',
  'publisher',
  'contributor',
  'date',
  'type',
  'format',
  'identifier',
  'source',
  'language',
  'relation',
  'coverage',
  'rights',
];

const itunes = [
  'author',
  'block',
  'duration',
  'explicit',
  'keywords',
  'subtitle',
  'summary',
  'isClosedCaptioned',
  'episode',
  'season',
  'order',
  'episodeType',
];

/** Texts of the Dublin Core elements, each as a list. */
export function dublinCoreData(item: Element): DataObject {
  const data: DataObject = {};
  for (const name of dublinCore) {
    const texts = textsOf(item, name, 'dc');
    if (texts.length > 0) data[name] = texts;
  }
  return data;
}

/** Texts of the podcast elements, and the URL of the podcast image. */
export function itunesData(item: Element): DataObject {
  const data: DataObject = {};
  for (const name of itunes) {
    const text = textsOf(item, name, 'itunes')[0];
    if (text !== undefined) data[name] = text;
  }
  const image = itunesImage(item);
  if (image !== '') data['image'] = image;
  return data;
}

export function itunesImage(element: Element): string {
  return childrenOf(element, 'image', 'itunes')[0]?.attributes['href'] ?? '';
}

function textsOf(element: Element, name: string, space: string): string[] {
  return childrenOf(element, name, space)
    .map(inner)
    .filter((text) => text !== '');
}

/** All elements from namespaces other than the feed's own: by prefix, then name, as a list. */
export function extensionData(item: Element): DataObject {
  const data: DataObject = {};
  for (const member of item.children) {
    if (member.space !== '') addTo(objectAt(data, member.space), member);
  }
  return data;
}

function extension(element: Element): DataObject {
  const attrs: DataObject = {};
  for (const key in element.attributes) setKey(attrs, key, element.attributes[key]!);
  const children: DataObject = {};
  for (const member of element.children) addTo(children, member);
  return { name: element.name, value: element.children.length > 0 ? '' : inner(element), attrs, children };
}

function addTo(data: DataObject, element: Element): void {
  const list = getKey(data, element.name);
  if (list === undefined) setKey(data, element.name, [extension(element)]);
  else (list as Data[]).push(extension(element));
}

function objectAt(data: DataObject, key: string): DataObject {
  const known = getKey(data, key);
  if (known !== undefined) return known as DataObject;
  const made: DataObject = {};
  setKey(data, key, made);
  return made;
}

/** Texts of elements in the feed's own namespace that are not part of a known format. */
export function customData(element: Element, known: ReadonlySet<string>): DataObject {
  const data: DataObject = {};
  for (const member of element.children) {
    const text = member.space === '' && !known.has(member.name) ? inner(member) : '';
    if (text !== '') setKey(data, member.name, text);
  }
  return data;
}
