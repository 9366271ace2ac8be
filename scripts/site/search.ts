import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import MiniSearch from 'minisearch';
import type { Section } from './render.ts';

/** An indexed section of a page. */
interface SearchRecord {
  readonly id: number;
  /** Address relative to the root of the site. */
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  readonly title: string;
  readonly names: string;
  readonly text: string;
}

/** Options that the browser needs to read the index. */
const options = { fields: ['names', 'title', 'page', 'text'], storeFields: ['url', 'page', 'title'] };

/** Script with the index: a script, so that it can be loaded from a file system as well. */
export function searchIndex(
  pages: readonly { readonly path: string; readonly title: string; readonly sections: readonly Section[] }[],
): string {
  const index = new MiniSearch<SearchRecord>({ ...options, tokenize: wordsOf });
  let id = 0;
  for (const { path, title, sections } of pages) {
    for (const section of sections) {
      const url = `${path}.html${section.anchor === '' ? '' : `#${section.anchor}`}`;
      const { names, text } = section;
      index.add({ id: id++, url, page: title, title: section.title, names: names.join(' '), text });
    }
  }
  return `globalThis.sluiceSearch = ${JSON.stringify({ options, index: JSON.stringify(index) })};\n`;
}

/** Words of a text: whole names such as `max_rate`, and their parts. */
function wordsOf(text: string): string[] {
  const names = text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
  return [...new Set([...names, ...names.flatMap((name) => (name.includes('_') ? name.split('_') : []))])];
}

/** The search engine, as a script for browsers. */
export function searchEngine(): string {
  const require = createRequire(import.meta.url);
  const text = readFileSync(require.resolve('minisearch').replace(/cjs.index\.cjs$/, 'umd/index.js'), 'utf8');
  return text.replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
}
