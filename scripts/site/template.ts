import type { SiteDocument, SiteOptions } from './document.ts';
import { relativeTo } from './links.ts';
import type { Section } from './render.ts';

/** A page with the navigation around it. */
export interface Page {
  readonly document: SiteDocument;
  readonly html: string;
  readonly sections: readonly Section[];
  readonly previous: SiteDocument | undefined;
  readonly next: SiteDocument | undefined;
  /** Address at which the source of the page is edited. */
  readonly edit: string | null;
}

/** The HTML of a page. @param documents all pages, in the order of the navigation. */
export function pageHtml(page: Page, documents: readonly SiteDocument[], options: SiteOptions): string {
  const { document } = page;
  const to = (path: string) => escaped(relativeTo(document.path, path));
  const title = document.path === 'index' ? 'Sluice' : `${document.title} · Sluice`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<meta name="description" content="${escaped(summaryOf(page))}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${to(`${document.path}.md`)}">
<link rel="stylesheet" href="${to('site.css')}">
<script src="${to('theme.js')}"></script>
<script src="${to('site.js')}" defer data-root="${to('.') || '.'}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button id="menu" aria-expanded="false" aria-controls="navigation">Menu</button>
<a class="brand" href="${to('index.html')}">Sluice</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="results">
<ul id="results" role="listbox" aria-label="Search results" hidden></ul>
</div>
${versionHtml(options)}
<button id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<nav id="navigation" aria-label="Pages">
${navigationHtml(document, documents, to)}
</nav>
<main id="content" tabindex="-1">
<article>
${page.html}</article>
<footer>
<p>${editHtml(page)} · <a href="${to(`${document.path}.md`)}">This page as Markdown</a></p>
<nav class="turn" aria-label="Previous and next page">
${turnHtml('previous', page.previous, to)}${turnHtml('next', page.next, to)}</nav>
</footer>
</main>
${outlineHtml(page)}
</body>
</html>
`;
}

type To = (path: string) => string;

function navigationHtml(current: SiteDocument, documents: readonly SiteDocument[], to: To): string {
  const sections = Map.groupBy(documents, ({ section }) => section);
  return [...sections]
    .map(([section, members]) => {
      const items = members.map((each) => {
        const mark = each === current ? ' aria-current="page"' : '';
        return `<li><a href="${to(`${each.path}.html`)}"${mark}>${escaped(each.title)}</a></li>`;
      });
      const open = section === current.section ? ' open' : '';
      return `<details${open}><summary>${escaped(section)}</summary><ul>${items.join('')}</ul></details>`;
    })
    .join('\n');
}

function outlineHtml({ sections }: Page): string {
  const shown = sections.filter(({ level }) => level === 2);
  if (shown.length < 2) return '';
  const items = shown.map(({ anchor, title }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`);
  return `<aside aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></aside>`;
}

function editHtml({ edit, document }: Page): string {
  return edit === null
    ? `Edit this page: <code>${escaped(document.source)}</code>`
    : `<a href="${escaped(edit)}">Edit this page</a>`;
}

function turnHtml(rel: 'previous' | 'next', page: SiteDocument | undefined, to: To): string {
  if (!page) return '';
  const text = rel === 'previous' ? `← ${escaped(page.title)}` : `${escaped(page.title)} →`;
  return `<a class="${rel}" rel="${rel === 'previous' ? 'prev' : 'next'}" href="${to(`${page.path}.html`)}">${text}</a>\n`;
}

function versionHtml({ version, versions }: SiteOptions): string {
  if (versions.length === 0) return `<span class="version">${escaped(version)}</span>`;
  const others = versions.map(({ name, url }) => `<option value="${escaped(url)}">${escaped(name)}</option>`);
  return `<select id="version" aria-label="Version"><option value="">${escaped(version)}</option>${others.join('')}</select>`;
}

/** First words of a page, for search engines. */
function summaryOf({ sections }: Page): string {
  const text = sections.find((section) => section.text !== '')?.text ?? '';
  return text.length > 160 ? `${text.slice(0, 157)}…` : text;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[mark]!);
}
