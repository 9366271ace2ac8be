import { opendir } from 'node:fs/promises';
import { escapeHtml } from '../values/html.ts';

/** Maximum number of entries listed; more are omitted. */
const MOST_ENTRIES = 10_000;

/** Renders an HTML page of links to the entries of a directory, ordered by name; hidden entries are omitted. */
export async function listDirectory(path: string): Promise<string> {
  const names: string[] = [];
  let seen = 0;
  for await (const entry of await opendir(path)) {
    if (seen++ === MOST_ENTRIES) break;
    if (!entry.name.startsWith('.')) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return `<!doctype html>\n<meta charset="utf-8">\n<pre>\n${names.sort().map(linkTo).join('')}</pre>\n`;
}

/** A name that contains a colon gets the prefix `./`, because it would be parsed as a URL scheme. */
function linkTo(name: string): string {
  const target = `./${name.split('/').map(encodeURIComponent).join('/')}`;
  return `<a href="${escapeHtml(target)}">${escapeHtml(name)}</a>\n`;
}
