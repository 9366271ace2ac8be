import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { atEndpoint, type Catalogue, definePlugin } from '#contract';
import { toolServices } from '../../kernel/cli/tools.ts';
import { adminScopes, scopeMeanings } from '../../kernel/contract/internal.ts';
import { type CompleteSchema, completeSchema } from '../../kernel/pipeline/complete-schema.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { examine } from '../../kernel/runtime/build/build.ts';
import { catalogue } from '../../plugins/index.ts';
import { exampleModule } from '../../scripts/docs/example-module.ts';
import { anchor, plain } from '../../scripts/docs/markdown.ts';
import { makePages } from '../../scripts/docs/pages.ts';
import { command } from '../support/programs.ts';

const top = join(import.meta.dirname, '../..');
const run = promisify(execFile);

type Json = Record<string, unknown>;

async function pagesOf(given: Catalogue): Promise<Map<string, string>> {
  const registry = new Registry(given, toolServices());
  try {
    return await makePages(registry);
  } finally {
    await registry.close();
  }
}

/** Path of an object on its page, and the name of one of its fields. */
type FieldName = readonly [object: string, name: string];

/** All fields of an object at every depth, except those with a separate page. */
function namesOf(schema: Json, apart: readonly string[], prefix = ''): FieldName[] {
  const { properties, items, additionalProperties: values } = schema as Record<string, Json | undefined>;
  if (items) return namesOf(items, apart, `${prefix}[]`);
  if (values) return namesOf(values, apart, prefix === '' ? '*' : `${prefix}.*`);
  return Object.entries((properties ?? {}) as Record<string, Json>).flatMap(([key, field]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return [[prefix, key] as const, ...(apart.includes(key) ? [] : namesOf(field, apart, name))];
  });
}

/** Whether a page has a field in the table of its object. @param section heading of the outer object; empty for the only one. */
function hasField(page: string, section: string, [object, name]: FieldName): boolean {
  const [, part = ''] = section === '' ? [null, page] : page.split(`\n### ${section}\n`);
  const whole = part.split(/\n#{2,3} (?=[^`])/)[section === '' ? fieldsAt(part) : 0]!;
  const tables = whole.split(/\n#{3,4} /);
  const table = object === '' ? tables[0] : tables.find((each) => each.startsWith(`\`${object}\``));
  return table?.includes(`| \`${name}\` |`) === true;
}

/** Position of the section of fields among the sections of a page. */
function fieldsAt(page: string): number {
  return page.split(/\n#{2,3} (?=[^`])/).findIndex((each) => each.startsWith('Fields\n'));
}

/** The configurations a page shows. */
function documentsOf(page: string): Json[] {
  return [...page.matchAll(/```json\n(.*?)\n```/gs)].map(([, text]) => JSON.parse(text!));
}

function anchorsOf(page: string): string[] {
  return [...page.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchor(heading!));
}

/** Pages whose examples refer to files that do not exist here. */
const withFiles: ReadonlySet<string> = new Set(['tls.md']);

describe('the generated reference', function () {
  this.timeout(180_000);
  let pages: Map<string, string>;
  let schema: CompleteSchema;
  const page = (name: string) => pages.get(`${name}.md`)!;

  before(async () => {
    pages = await pagesOf(catalogue);
    const registry = new Registry(catalogue, toolServices());
    schema = await completeSchema(registry);
    await registry.close();
  });

  for (const namespace of Object.keys(catalogue.plugins).filter((name) => !catalogue.always?.includes(name))) {
    it(`has a page for ${namespace}`, async () => {
      const { plugin } = await catalogue.plugins[namespace]!();
      ok(page(namespace).startsWith(`# ${namespace}\n`));
      for (const { at } of plugin.places ?? []) {
        const section = plugin.places!.length === 1 ? '' : `At ${at} level`;
        const missing = namesOf(schema.definitions[`${at}.${namespace.replaceAll('/', '.')}`]!, []).filter(
          (name) => !hasField(page(namespace), section, name),
        );
        deepEqual(missing, []);
        match(page(namespace), new RegExp(`Allowed in .*\\[${at === 'service' ? 'root' : at}\\]`));
      }
      for (const [phase, names] of Object.entries(catalogue.order)) {
        if (!names.includes(plugin.name)) continue;
        match(
          page(namespace),
          new RegExp(`\\| \\[${phase}\\]\\(.*order.md#${phase}\\) \\| .*\\*\\*${plugin.name}\\*\\*`),
        );
        match(page('order').split(`\n## ${phase}\n`)[1]!.split('\n## ')[0]!, new RegExp(`\\[${plugin.name}\\]\\(`));
      }
    });
  }

  const core = ['root', 'endpoint', 'backend', 'router', 'tls'] as const;
  for (const name of core) {
    it(`has every field of ${name} on its page`, () => {
      const root = schema['properties'] as Record<string, Json>;
      const endpoint = root['endpoints']!['items'] as Json;
      const backend = (endpoint['properties'] as Record<string, Json>)['backend']!['items'] as Json;
      const objects: Record<(typeof core)[number], Json[]> = {
        root: [schema],
        endpoint: [endpoint],
        backend: [backend],
        router: [schema.definitions['service.router']!],
        tls: [root['tls']!, root['client_tls']!],
      };
      const apart = ['endpoints', 'backend', 'tls', 'client_tls', 'extra_config'];
      const sections = name === 'tls' ? ['tls', 'client_tls'] : [''];
      const names = objects[name].flatMap((object, at) =>
        namesOf(object, apart).map((field) => [sections[at]!, field] as const),
      );
      ok(names.length > 10);
      deepEqual(
        names.filter(([section, field]) => !hasField(page(name), section, field)),
        [],
      );
    });
  }

  it('lists every encoding in one table', () => {
    const names = Object.keys(catalogue.plugins).filter((name) => name.startsWith('encoding/'));
    for (const name of names)
      ok(page('encodings').includes(`| [${name.slice('encoding/'.length)}](${name}.md) |`), name);
  });

  it('shows type, default, meaning and an example of each field', () => {
    ok(
      page('root').includes(
        '| `write_timeout` | duration | `"0s"` | Time limit from the end of the request headers to the end of the response. 0 disables the limit. Example: `"60s"` |',
      ),
    );
    match(page('qos/circuit-breaker'), /\| `interval` \| integer, 0 or more \| required \|/);
    match(page('qos/circuit-breaker'), /\| `max_errors` \| integer, 0 or more \| required \|/);
    match(page('endpoint'), /\| `method` \| one of `"GET"`, `"POST"`/);
    match(
      page('tls'),
      /\n#### `client_certs\[\]` \(client_tls\)\n\n(?:\|.*\n)*\| `certificate` \| string \| required \|/,
    );
    match(page('tls'), /Fields: \[`client_certs\[\]`\]\(#client_certs-client_tls\)\./);
    match(
      page('endpoint'),
      /\| `headers_to_pass` \| list of string \| {2}\| \*Deprecated\.\* Former name of "input_headers"/,
    );
  });

  it('describes access to the admin API: each scope, each operation with its scope, and the token file', () => {
    const text = page('admin/api');
    for (const scope of adminScopes) ok(text.includes(`| \`${scope}\` | ${scopeMeanings[scope]} |`), scope);
    for (const row of [
      '| [`GET /live`](operations.md#get-live) | none |',
      '| [`GET /v1/config`](operations.md#get-v1config) | `read` |',
      '| [`POST /v1/check`](operations.md#post-v1check) | `check` |',
      '| [`POST /v1/revisions/{number}/rollback`](operations.md#post-v1revisionsnumberrollback) | `write` |',
      '| [`POST /v1/drain`](operations.md#post-v1drain) | `ops` |',
      '| [`POST /v1/mcp`](operations.md#post-v1mcp) | `read` |',
    ]) {
      ok(text.includes(row), row);
    }
    match(text, /Authorization: Bearer/);
    match(text, /"sha256": "\$SHA256", "scopes": \["read", "write"\]/);
  });

  it('links only to existing pages and sections', () => {
    const anchors = new Map([...pages].map(([path, text]) => [path, anchorsOf(text)]));
    for (const [path, text] of pages) {
      for (const [, to = '', section] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
        if (to.startsWith('http')) continue;
        const other = to === '' ? path : normalize(join(dirname(path), to));
        ok(pages.has(other), `${path} leads to ${to}`);
        if (section !== undefined) ok(anchors.get(other)!.includes(section), `${path} leads to ${other}#${section}`);
      }
    }
  });

  it('shows inline code of a description as code, and escapes any other markup', () => {
    equal(plain('`a*b` is <x> of [y], `'), '`a*b` is \\<x> of \\[y], \\`');
    for (const [path, text] of pages) equal(/\\`[\w.]+\\`/.test(text), false, path);
  });

  it('has unique section names on each page', () => {
    for (const [path, text] of pages) {
      const anchors = anchorsOf(text).filter((each) => !/^at-\w+-level$/.test(each));
      if (path === 'tls.md') continue;
      equal(new Set(anchors).size, anchors.length, path);
    }
  });

  it('links to every page from the index', () => {
    for (const path of pages.keys()) ok(path === 'index.md' || page('index').includes(`](${path})`), path);
  });

  it('is the same when it is generated again', async () => deepEqual([...(await pagesOf(catalogue))], [...pages]));

  it('describes every attack of sluice attack, from the catalog itself', async () => {
    const { attacks } = (await catalogue.attack!()).catalogue;
    for (const { name } of attacks) ok(page('attacks').includes(`\n## ${name}\n`), name);
  });

  it('shows a configuration on every page of a component', () => {
    const others = [
      'errors.md',
      'logs.md',
      'metrics.md',
      'cli.md',
      'stores.md',
      'attacks.md',
      'admin/operations.md',
      'order.md',
    ];
    for (const [path, text] of pages) ok(others.includes(path) || documentsOf(text).length > 0, path);
  });

  it('shows only configurations that pass check -t without warnings except unset variables', async () => {
    const registry = new Registry(catalogue, toolServices()).with([exampleModule], true);
    for (const [path, text] of pages) {
      for (const document of documentsOf(text)) {
        const { errors, warnings } = await examine(document, {}, registry, !withFiles.has(path));
        // Skips warnings about placeholders, which are replaced when a configuration is deployed.
        const others = warnings.filter(({ code }) => code !== 'CONFIG_VARIABLE');
        deepEqual([...errors, ...others].map(String), [], path);
      }
    }
    await registry.close();
  });

  it('is not generated from an invalid example', async () => {
    await rejects(pagesOf(withExample({ wait: '5' })), /the example of x\/y is not a valid configuration:.*DURATION/s);
  });

  it('is not generated if a component has no example', async () => {
    await rejects(pagesOf(withExample(undefined)), /the schema of x\/y at endpoint level has no example/);
  });

  describe('written to files', () => {
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
      await run(process.execPath, [join(top, 'scripts/docs.ts'), '--no-site', '--out', folder]);
    });
    after(() => rmSync(folder, { recursive: true }));

    it('is in the given folder', () => {
      deepEqual(globSync('**/*.md', { cwd: folder }).sort(), [...pages.keys()].sort());
      equal(readFileSync(join(folder, 'qos/ratelimit/router.md'), 'utf8'), page('qos/ratelimit/router'));
    });

    it('shows a configuration that the command accepts', async () => {
      const file = join(folder, 'example.json');
      writeFileSync(file, JSON.stringify(documentsOf(page('root'))[0]));
      const { stdout } = await run(process.execPath, [command, 'check', '-t', '-c', file]);
      match(stdout, /Syntax OK!/);
    });
  });
});

/** The catalog with an additional component that has only this example. */
function withExample(example: unknown): Catalogue {
  const plugin = definePlugin({
    name: 'x/y',
    description: 'Waits.',
    places: [
      atEndpoint(
        {
          type: 'object',
          properties: { wait: { type: 'duration', description: 'How long.' } },
          ...(example !== undefined && { examples: [example] }),
        },
        () => ({}),
      ),
    ],
  });
  // The component comes first, so that its page fails before other pages are generated.
  return { ...catalogue, plugins: { 'x/y': async () => ({ plugin }), ...catalogue.plugins } };
}
