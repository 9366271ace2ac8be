import type { DataObject } from '#contract';
import { dublinCoreData, extensionData, itunesData, itunesImage } from './extensions.ts';
import { feedData, first, type Item, type Person } from './feed.ts';
import { childrenOf, type Element, textOf } from './tree.ts';

/** Reads Atom 1.0, and 0.3 with its older names. */
export function readAtom(root: Element): DataObject {
  return feedData({
    type: 'atom',
    title: textOf(root, 'title'),
    description: first(textOf(root, 'subtitle'), textOf(root, 'tagline')),
    copyright: first(textOf(root, 'rights'), textOf(root, 'copyright')),
    language: root.attributes['xml:lang'] ?? '',
    published: '',
    updated: first(textOf(root, 'updated'), textOf(root, 'modified')),
    author: authorsOf(root)[0] ?? null,
    categories: categoriesOf(root),
    image: first(textOf(root, 'logo'), textOf(root, 'icon')),
    items: childrenOf(root, 'entry').map(itemOf),
  });
}

function itemOf(entry: Element): Item {
  const links = childrenOf(entry, 'link');
  const pages = links.filter(({ attributes }) => (attributes['rel'] ?? 'alternate') === 'alternate').map(href);
  const image = itunesImage(entry);
  return {
    title: textOf(entry, 'title'),
    description: textOf(entry, 'summary'),
    content: first(textOf(entry, 'content'), childrenOf(entry, 'content')[0]?.attributes['src'] ?? ''),
    link: pages[0] ?? '',
    links: pages,
    updated: first(textOf(entry, 'updated'), textOf(entry, 'modified')),
    published: first(textOf(entry, 'published'), textOf(entry, 'issued')),
    authors: authorsOf(entry),
    guid: textOf(entry, 'id'),
    image: image === '' ? null : { url: image, title: '' },
    categories: categoriesOf(entry),
    enclosures: links
      .filter(({ attributes }) => attributes['rel'] === 'enclosure')
      .map((link) => ({
        url: href(link),
        length: link.attributes['length'] ?? '',
        type: link.attributes['type'] ?? '',
      })),
    dcExt: dublinCoreData(entry),
    itunesExt: itunesData(entry),
    extensions: extensionData(entry),
  };
}

function href(link: Element): string {
  return link.attributes['href'] ?? '';
}

function authorsOf(element: Element): Person[] {
  return childrenOf(element, 'author').map((author) => ({
    name: textOf(author, 'name'),
    email: textOf(author, 'email'),
  }));
}

function categoriesOf(element: Element): string[] {
  return childrenOf(element, 'category')
    .map(({ attributes }) => first(attributes['label'] ?? '', attributes['term'] ?? ''))
    .filter((text) => text !== '');
}
