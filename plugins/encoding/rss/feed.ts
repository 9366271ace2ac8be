import { type DataObject, hasKeys } from '#contract';
import { parseDate } from './date.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Enclosure {
  readonly url: string;
  readonly length: string;
  readonly type: string;
}

export interface Item {
  readonly title: string;
  readonly description: string;
  readonly content: string;
  readonly link: string;
  readonly links: readonly string[];
  readonly updated: string;
  readonly published: string;
  readonly authors: readonly Person[];
  readonly guid: string;
  readonly image: { readonly url: string; readonly title: string } | null;
  readonly categories: readonly string[];
  readonly enclosures: readonly Enclosure[];
  readonly dcExt?: DataObject;
  readonly itunesExt?: DataObject;
  readonly extensions?: DataObject;
  readonly custom?: DataObject;
}

export interface Feed {
  readonly type: 'rss' | 'atom' | 'json';
  readonly title: string;
  readonly description: string;
  readonly copyright: string;
  readonly language: string;
  readonly published: string;
  readonly updated: string;
  readonly author: Person | null;
  readonly categories: readonly string[];
  /** URL of the image; empty without one. */
  readonly image: string;
  readonly custom?: DataObject;
  readonly items: readonly Item[];
}

/** A feed as data with all keys: absent text is empty, absent lists and objects are null. */
export function feedData(feed: Feed): DataObject {
  const data: DataObject = {
    items: feed.items.length > 0 ? feed.items.map(itemData) : null,
    author: feed.author && personData(feed.author),
    categories: feed.categories.length > 0 ? [...feed.categories] : null,
    custom: feed.custom && hasKeys(feed.custom) ? feed.custom : null,
    copyright: feed.copyright,
    description: feed.description,
    type: feed.type,
    language: feed.language,
    title: feed.title,
    published: feed.published,
    updated: feed.updated,
  };
  if (feed.image !== '') data['img_url'] = feed.image;
  return data;
}

/** An item as data, without absent fields. */
function itemData(item: Item): DataObject {
  const authors = item.authors.map(personData);
  return filled({
    title: item.title,
    description: item.description,
    content: item.content,
    link: item.link,
    links: [...item.links],
    updated: item.updated,
    updatedParsed: parseDate(item.updated),
    published: item.published,
    publishedParsed: parseDate(item.published),
    author: authors[0] ?? null,
    authors,
    guid: item.guid,
    image: item.image && filled({ ...item.image }),
    categories: [...item.categories],
    enclosures: item.enclosures.map((enclosure) => filled({ ...enclosure })),
    dcExt: item.dcExt ?? null,
    itunesExt: item.itunesExt ?? null,
    extensions: item.extensions ?? null,
    custom: item.custom ?? null,
  });
}

function personData(person: Person): DataObject {
  return filled({ ...person });
}

/** Removes empty texts, lists and objects. Must only be used for objects created here, whose keys are known. */
export function filled(object: DataObject): DataObject {
  const kept: DataObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key]!;
    if (value === null || value === '') continue;
    if (typeof value === 'object' && !hasKeys(value as DataObject)) continue;
    kept[key] = value;
  }
  return kept;
}

// In these patterns, adjacent parts never match the same character, so that matching takes linear time.
const withAddress = /^"?([^"<(]*)(?:"\s*)?<([^<>\s@]+@[^<>\s@]+)>$/;
const addressFirst = /^([^\s@]+@[^\s@(]+)(?:\s*\((.*)\))?$/;
const addressLast = /^([^(]*)\(([^\s@]+@[^\s@]+)\)$/;

/** Parses `me@x.org (Me)`, `Me <me@x.org>`, `Me (me@x.org)`, an address alone or a name alone. Null for an empty text. */
export function person(text: string): Person | null {
  if (text === '') return null;
  const leading = addressFirst.exec(text);
  if (leading) return { name: leading[2] ?? '', email: leading[1]! };
  const trailing = withAddress.exec(text) ?? addressLast.exec(text);
  return trailing ? { name: trailing[1]!.trim(), email: trailing[2]! } : { name: text, email: '' };
}

/** People named in the texts, without duplicates. */
export function people(texts: readonly string[]): Person[] {
  const results = new Map<string, Person>();
  for (const text of texts) {
    const someone = person(text);
    if (someone) results.set(JSON.stringify(someone), someone);
  }
  return [...results.values()];
}

/** First non-empty text. */
export function first(...texts: readonly string[]): string {
  return texts.find((text) => text !== '') ?? '';
}
