// Writes the configuration reference, one page per namespace: `npm run docs`, into dist/docs or `--out DIR`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { toolServices } from '../kernel/cli/tools.ts';
import { Registry } from '../kernel/registry/registry.ts';
import { catalogue } from '../plugins/index.ts';
import { makePages } from './docs/pages.ts';

const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/docs' } } });
const registry = new Registry(catalogue, toolServices());
const pages = await makePages(registry);
await registry.close();
for (const [path, text] of pages) {
  const file = join(values.out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
console.log(`${values.out}: ${pages.size} pages`);
