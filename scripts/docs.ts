// Writes the reference as Markdown and the documentation site: `npm run docs`, into dist/docs and dist/site. `--out DIR` and
// `--site DIR` choose other folders, `--no-site` writes the Markdown only.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { toolServices } from '../kernel/cli/tools.ts';
import { Registry } from '../kernel/registry/registry.ts';
import { version } from '../kernel/version.ts';
import { catalogue } from '../plugins/index.ts';
import { makePages } from './docs/pages.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/docs' },
    site: { type: 'string', default: 'dist/site' },
    'no-site': { type: 'boolean', default: false },
    /** Address of the repository, for links to its files and "Edit this page". */
    repository: { type: 'string' },
    /** JSON file with the sites of other versions: `[{ "name": "1.0", "url": "https://docs.example.com/1.0/" }]`. */
    versions: { type: 'string' },
  },
});
const registry = new Registry(catalogue, toolServices());
const pages = await makePages(registry);
await registry.close();
for (const [path, text] of pages) {
  const file = join(values.out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
console.log(`${values.out}: ${pages.size} pages`);
if (!values['no-site']) {
  const { buildSite } = await import('./site/build.ts');
  const versions = values.versions === undefined ? [] : JSON.parse(readFileSync(values.versions, 'utf8'));
  const count = buildSite(values.site, pages, { repository: values.repository, version, versions });
  console.log(`${values.site}: ${count} pages`);
}
