import { type Data, type DataObject, getKey, isObject, setKey } from '#contract';
import { isScalar, scalarText } from '../../engines/documents/scalar.ts';
import { readJson } from '../lib/json-body.ts';
import { feedData, first, type Item, type Person } from './feed.ts';

/** Reads JSON Feed 1.0 and 1.1. @throws Error for other JSON. */
export function readJsonFeed(bytes: Uint8Array): DataObject {
  const feed = readJson(bytes);
  if (!isObject(feed) || !text(feed, 'version').includes('jsonfeed.org'))
    throw new Error('not a feed: JSON without a feed version');
  return feedData({
    type: 'json',
    title: text(feed, 'title'),
    description: text(feed, 'description'),
    copyright: '',
    language: text(feed, 'language'),
    published: '',
    updated: '',
    author: authorsOf(feed)[0] ?? null,
    categories: [],
    image: first(text(feed, 'icon'), text(feed, 'favicon')),
    custom: customOf(feed),
    items: objects(feed, 'items').map(itemOf),
  });
}

function itemOf(item: DataObject): Item {
  const image = first(text(item, 'image'), text(item, 'banner_image'));
  return {
    title: text(item, 'title'),
    description: text(item, 'summary'),
    content: first(text(item, 'content_html'), text(item, 'content_text')),
    link: first(text(item, 'url'), text(item, 'external_url')),
    links: [text(item, 'url'), text(item, 'external_url')].filter((link) => link !== ''),
    updated: text(item, 'date_modified'),
    published: text(item, 'date_published'),
    authors: authorsOf(item),
    guid: text(item, 'id'),
    image: image === '' ? null : { url: image, title: '' },
    categories: list(item, 'tags').filter((tag) => typeof tag === 'string'),
    enclosures: objects(item, 'attachments').map((attachment) => ({
      url: text(attachment, 'url'),
      length: text(attachment, 'size_in_bytes'),
      type: text(attachment, 'mime_type'),
    })),
    custom: customOf(item),
  };
}

/** Version 1.1 has a list of authors, 1.0 a single one; the address is taken from a `mailto:` link. */
function authorsOf(object: DataObject): Person[] {
  const authors = objects(object, 'authors');
  const single = getKey(object, 'author');
  if (authors.length === 0 && isObject(single)) authors.push(single);
  return authors.map((author) => {
    const url = text(author, 'url');
    return { name: text(author, 'name'), email: url.startsWith('mailto:') ? url.slice('mailto:'.length) : '' };
  });
}

/** Extensions are the keys that start with an underscore. */
function customOf(object: DataObject): DataObject {
  const custom: DataObject = {};
  for (const key of Object.keys(object)) if (key.startsWith('_')) setKey(custom, key, object[key]!);
  return custom;
}

function text(object: DataObject, key: string): string {
  const value = getKey(object, key);
  return value !== undefined && isScalar(value) ? scalarText(value) : '';
}

function list(object: DataObject, key: string): Data[] {
  const value = getKey(object, key);
  return Array.isArray(value) ? value : [];
}

function objects(object: DataObject, key: string): DataObject[] {
  return list(object, key).filter(isObject);
}
