// Compares the published schemas of KrakenD with the gateway's own: `npm run compare-schemas -- FOLDER`.
// The folder contains JSON Schema files that refer to each other, with `_root.json` for a whole configuration; `--root`
// names another file. `--all` also lists the explained differences. Differences without an explanation are an error, and
// so are files that no part of a configuration refers to.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toolServices } from '../kernel/cli/tools.ts';
import { completeSchema } from '../kernel/pipeline/complete-schema.ts';
import { Registry } from '../kernel/registry/registry.ts';
import { catalogue } from '../plugins/index.ts';
import { compareSchemas } from './compare-schemas/differences.ts';
import { explanations } from './compare-schemas/explained.ts';
import { reportOf } from './compare-schemas/report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { root: { type: 'string', default: '_root.json' }, all: { type: 'boolean', default: false } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('usage: npm run compare-schemas -- FOLDER [--root _root.json] [--all]');
  process.exitCode = 2;
} else {
  const registry = new Registry(catalogue, toolServices());
  const comparison = compareSchemas(join(folder, values.root), await completeSchema(registry));
  await registry.close();
  const { lines, isExplained } = reportOf(comparison, explanations, values.all);
  console.log(lines.join('\n'));
  process.exitCode = isExplained ? 0 : 1;
}
