import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SiteDocument, SiteOptions } from './document.ts';
import { siteDocuments } from './documents.ts';
import { Links } from './links.ts';
import { renderMarkdown } from './render.ts';
import { searchEngine, searchIndex } from './search.ts';
import { pageHtml } from './template.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Writes the site: static files that need no server. @param reference Markdown by path, as of `makePages`.
 * @returns the number of pages. @throws Error for a link to a file that does not exist.
 */
export function buildSite(out: string, reference: ReadonlyMap<string, string>, options: SiteOptions): number {
  const documents = siteDocuments(root, reference);
  const links = new Links(root, documents, options);
  const pages = documents.map((document, at) => ({
    document,
    ...renderMarkdown(document.text, (target) => links.resolve(document, target, 'html')),
    previous: documents[at - 1],
    next: documents[at + 1],
    edit: links.edit(document),
  }));
  const files = new Map<string, string | Uint8Array>();
  for (const page of pages) {
    files.set(`${page.document.path}.html`, pageHtml(page, documents, options));
    files.set(`${page.document.path}.md`, markdownOf(page.document, links));
  }
  files.set('search.js', searchIndex(pages.map(({ document, sections }) => ({ ...document, sections }))));
  files.set('minisearch.js', searchEngine());
  files.set('llms.txt', llmsIndex(documents));
  files.set('llms-full.txt', documents.map((document) => markdownOf(document, links)).join('\n---\n\n'));
  for (const name of ['site.css', 'site.js', 'theme.js']) {
    files.set(name, readFileSync(join(import.meta.dirname, 'client', name)));
  }
  for (const [path, content] of links.files) files.set(path, content);
  rmSync(out, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), content);
  }
  return pages.length;
}

/** The Markdown of a page, with links to the Markdown of other pages. */
function markdownOf(document: SiteDocument, links: Links): string {
  const blocks = document.text.split(/(^```.*?^```$)/ms);
  const text = blocks.map((block, at) =>
    at % 2 === 1
      ? block
      : block.replace(/(?<=\]\()[^)\s]+(?=\))/g, (target) => links.resolve(document, target, 'md') ?? target),
  );
  return text.join('');
}

/** Index of all pages for language models, in the format of llmstxt.org. */
function llmsIndex(documents: readonly SiteDocument[]): string {
  const sections = Map.groupBy(documents, ({ section }) => section);
  const lists = [...sections].map(([section, members]) => {
    const items = members.map(({ title, path, text }) => `- [${title}](${path}.md)${introductionOf(text)}`);
    return `## ${section}\n\n${items.join('\n')}`;
  });
  const summary = '> An API gateway that one configuration file declares, compatible with KrakenD.';
  return `# Sluice\n\n${summary}\n\n${lists.join('\n\n')}\n`;
}

/** First sentence below the title. */
function introductionOf(text: string): string {
  const paragraph = /^# .+\n\n([^#|`\n-][^\n]*(?:\n[^\n]+)*)/m.exec(text)?.[1]?.replaceAll('\n', ' ') ?? '';
  const sentence = /^.*?[.:](?= |$)/.exec(paragraph)?.[0] ?? paragraph;
  return sentence === '' ? '' : `: ${sentence}`;
}
