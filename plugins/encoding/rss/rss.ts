import type { DataObject } from '#contract';
import { customData, dublinCoreData, extensionData, itunesData, itunesImage } from './extensions.ts';
import { feedData, first, type Item, people } from './feed.ts';
import { child, childrenOf, type Element, inner, textOf } from './tree.ts';

const knownInChannel = new Set(
  (
    'title link description language copyright managingEditor webMaster pubDate lastBuildDate category generator docs ' +
    'cloud ttl image rating textInput textinput skipHours skipDays item items'
  ).split(' '),
);

const knownInItem = new Set(
  'title link description author category comments enclosure guid pubDate source content image'.split(' '),
);

/** Reads RSS 0.9x and 2.0, with items inside the channel, and RSS 0.90 and 1.0, with items next to it. */
export function readRss(root: Element): DataObject {
  const channel = child(root, 'channel');
  if (!channel) throw new Error('RSS without a channel');
  const image = child(channel, 'image') ?? child(root, 'image');
  return feedData({
    type: 'rss',
    title: first(textOf(channel, 'title'), textOf(channel, 'title', 'dc')),
    description: first(textOf(channel, 'description'), textOf(channel, 'summary', 'itunes')),
    copyright: first(textOf(channel, 'copyright'), textOf(channel, 'rights', 'dc')),
    language: first(textOf(channel, 'language'), textOf(channel, 'language', 'dc')),
    published: first(textOf(channel, 'pubDate'), textOf(channel, 'date', 'dc')),
    updated: textOf(channel, 'lastBuildDate'),
    author: people(authorTexts(channel, 'managingEditor', 'webMaster'))[0] ?? null,
    categories: categoriesOf(channel),
    image: first(image ? textOf(image, 'url') : '', itunesImage(channel)),
    custom: customData(channel, knownInChannel),
    items: [...childrenOf(channel, 'item'), ...childrenOf(root, 'item')].map(itemOf),
  });
}

function itemOf(item: Element): Item {
  const link = textOf(item, 'link');
  const image = first(itunesImage(item), mediaImage(item));
  return {
    title: first(textOf(item, 'title'), textOf(item, 'title', 'dc')),
    description: first(textOf(item, 'description'), textOf(item, 'description', 'dc')),
    content: first(textOf(item, 'encoded', 'content'), textOf(item, 'content')),
    link,
    links: link === '' ? [] : [link],
    updated: '',
    published: first(textOf(item, 'pubDate'), textOf(item, 'date', 'dc')),
    authors: people(authorTexts(item, 'author')),
    guid: textOf(item, 'guid'),
    image: image === '' ? null : { url: image, title: '' },
    categories: categoriesOf(item),
    enclosures: childrenOf(item, 'enclosure').map(({ attributes }) => ({
      url: attributes['url'] ?? '',
      length: attributes['length'] ?? '',
      type: attributes['type'] ?? '',
    })),
    dcExt: dublinCoreData(item),
    itunesExt: itunesData(item),
    extensions: extensionData(item),
    custom: customData(item, knownInItem),
  };
}

function authorTexts(element: Element, ...names: readonly string[]): string[] {
  return [
    ...names.map((name) => textOf(element, name)),
    ...childrenOf(element, 'creator', 'dc').map(inner),
    ...childrenOf(element, 'author', 'dc').map(inner),
    textOf(element, 'author', 'itunes'),
  ];
}

function categoriesOf(element: Element): string[] {
  const keywords = textOf(element, 'keywords', 'itunes')
    .split(',')
    .map((keyword) => keyword.trim());
  const texts = [...childrenOf(element, 'category'), ...childrenOf(element, 'subject', 'dc')].map(inner);
  const podcast = childrenOf(element, 'category', 'itunes').map(({ attributes }) => attributes['text'] ?? '');
  return [...new Set([...texts, ...podcast, ...keywords])].filter((text) => text !== '');
}

function mediaImage(item: Element): string {
  const thumbnail = child(item, 'thumbnail', 'media')?.attributes['url'];
  if (thumbnail !== undefined) return thumbnail;
  const picture = childrenOf(item, 'content', 'media').find(
    ({ attributes }) => attributes['medium'] === 'image' || attributes['type']?.startsWith('image/'),
  );
  return picture?.attributes['url'] ?? '';
}
