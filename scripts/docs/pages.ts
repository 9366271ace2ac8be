import { completeSchema } from '../../kernel/pipeline/complete-schema.ts';
import type { Registry } from '../../kernel/registry/registry.ts';
import { adminGuide } from './admin-guide.ts';
import { operationsPage } from './admin-operations.ts';
import { boundsPage } from './bounds/index.ts';
import { cliPage } from './cli.ts';
import { componentTopics } from './components.ts';
import { coreTopics } from './core.ts';
import { errorsPage } from './errors/index.ts';
import { mustBeGood } from './examples.ts';
import { logLinesPage } from './log-lines/index.ts';
import { jsonBlock, link, plain, table } from './markdown.ts';
import { metricsPage } from './metrics.ts';
import { orderPage } from './order.ts';
import { pageOf, type Topic } from './topic.ts';

/**
 * Creates the complete configuration reference: Markdown by path relative to the folder of all pages. Deterministic for
 * the same plugins.
 * @throws Error when an example is not a valid configuration, or two pages have the same path.
 */
export async function makePages(registry: Registry): Promise<Map<string, string>> {
  const complete = await completeSchema(registry);
  const core = coreTopics(complete, registry);
  const components = componentTopics(complete, registry);
  const pages = new Map([
    ['index.md', indexOf(core, components)],
    ['errors.md', errorsPage()],
    ['logs.md', logLinesPage()],
    ['metrics.md', metricsPage()],
    ['cli.md', await cliPage(registry.catalogue)],
    ['admin/operations.md', operationsPage()],
    ['order.md', orderPage(registry)],
    ['bounds.md', boundsPage(complete)],
  ]);
  for (const topic of [...core, ...components]) {
    const path = `${topic.name}.md`;
    if (pages.has(path)) throw new Error(`two pages are named ${path}`);
    for (const { document } of topic.examples) await mustBeGood(document, topic.name, registry);
    pages.set(path, pageOf(topic.name === 'admin/api' ? { ...topic, guide: adminGuide() } : topic));
  }
  return pages;
}

const operation = [
  ['[Command line](cli.md)', 'Every command, its flags and exit codes.'],
  ['[Admin API](admin/operations.md)', 'Every operation of the admin port, its parameters, responses and problems.'],
  ['[Error codes](errors.md)', 'Every code that checks, the admin API and the log print, with cause and remedy.'],
  ['[Log lines](logs.md)', 'The lines of the log that matter, with cause and remedy.'],
  ['[Metrics](metrics.md)', 'Every metric with its type, unit, labels and meaning.'],
  ['[Run order](order.md)', 'The order in which components handle a request.'],
  ['[Bounds](bounds.md)', 'Every buffer, queue, cache and map that others can fill, and its limit.'],
];

function indexOf(core: readonly Topic[], components: readonly Topic[]): string {
  const rows = (topics: readonly Topic[]) =>
    topics.map(({ name, description }) => [link(name, `${name}.md`, 'index.md'), plain(description)]);
  const segments = [
    '# Configuration reference',
    'Made from the schemas that validate a configuration, by `npm run docs`.',
    '## Operation',
    table(['Page', 'What it is'], operation),
    '## The file',
    table(['Page', 'What it is'], rows(core)),
    '## Components, encodings and discoveries',
    table(['Page', 'What it does'], rows(components)),
    '## In editors, offline',
    '`sluice schema > sluice.schema.json` writes the same as JSON Schema, draft 07; a configuration next to it refers to it:',
    jsonBlock({ $schema: './sluice.schema.json', version: 3, endpoints: [] }),
  ];
  return `${segments.join('\n\n')}\n`;
}
