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
import { examine } from '../../kernel/runtime/build.ts';
import { catalogue } from '../../plugins/index.ts';
import { exampleModule } from '../../scripts/docs/example-module.ts';
import { makePages } from '../../scripts/docs/pages.ts';

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

/** Dotted names of all fields of an object, but for those that have a page of their own. */
function namesOf(schema: Json, apart: readonly string[], prefix = ''): string[] {
  const { properties, items, additionalProperties: values } = schema as Record<string, Json | undefined>;
  if (items) return namesOf(items, apart, `${prefix}[]`);
  if (values) return namesOf(values, apart, `${prefix}.*`);
  return Object.entries((properties ?? {}) as Record<string, Json>).flatMap(([key, field]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return [name, ...(apart.includes(key) ? [] : namesOf(field, apart, name))];
  });
}

/** The configurations a page shows. */
function documentsOf(page: string): Json[] {
  return [...page.matchAll(/```json\n(.*?)\n```/gs)].map(([, text]) => JSON.parse(text!));
}

/** Pages whose examples name files that are not here. */
const withFiles: ReadonlySet<string> = new Set(['tls.md']);

describe('the reference', function () {
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
    it(`has a page of ${namespace}`, async () => {
      const { plugin } = await catalogue.plugins[namespace]!();
      ok(page(namespace).startsWith(`# ${namespace}\n`));
      for (const { at } of plugin.places ?? []) {
        const missing = namesOf(schema.definitions[`${at}.${namespace.replaceAll('/', '.')}`]!, []).filter(
          (name) => !page(namespace).includes(`| \`${name}\` |`),
        );
        deepEqual(missing, []);
        match(page(namespace), new RegExp(`May stand in .*\\[${at === 'service' ? 'root' : at}\\]`));
      }
      for (const [phase, names] of Object.entries(catalogue.order)) {
        if (!names.includes(plugin.name)) continue;
        match(page(namespace), new RegExp(`\\| \`${phase}\` \\| .*\\*\\*${plugin.name}\\*\\*`));
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
      const names = objects[name].flatMap((object) => namesOf(object, apart));
      ok(names.length > 10);
      deepEqual(
        names.filter((field) => !page(name).includes(`| \`${field}\` |`)),
        [],
      );
    });
  }

  it('has every encoding in one table', () => {
    const names = Object.keys(catalogue.plugins).filter((name) => name.startsWith('encoding/'));
    for (const name of names)
      ok(page('encodings').includes(`| [${name.slice('encoding/'.length)}](${name}.md) |`), name);
  });

  it('tells of a field its type, default, meaning and an example', () => {
    ok(
      page('root').includes(
        '| `write_timeout` | duration | `"0s"` | Time limit from the end of the request headers to the end of the response. 0 disables the limit. | `"60s"` |',
      ),
    );
    match(page('qos/circuit-breaker'), /\| `interval` \| integer, 0 or more \| required \|/);
    match(page('qos/circuit-breaker'), /\| `max_errors` \| integer, 0 or more \| required \|/);
    match(page('endpoint'), /\| `method` \| one of `"GET"`, `"POST"`/);
    match(page('tls'), /\| `client_certs\[\]\.certificate` \| string \| required \|/);
    match(
      page('endpoint'),
      /\| `headers_to_pass` \| list of string \| {2}\| \*Deprecated\.\* Old name of "input_headers"/,
    );
  });

  it('describes access to the admin API: each scope, each operation with its scope, and the token file', () => {
    const text = page('admin/api');
    for (const scope of adminScopes) ok(text.includes(`| \`${scope}\` | ${scopeMeanings[scope]} |`), scope);
    for (const row of [
      '| `GET /live` | none |',
      '| `GET /v1/config` | `read` |',
      '| `POST /v1/check` | `check` |',
      '| `POST /v1/revisions/{number}/rollback` | `write` |',
      '| `POST /v1/drain` | `ops` |',
      '| `POST /v1/mcp` | `read` |',
    ]) {
      ok(text.includes(row), row);
    }
    match(text, /Authorization: Bearer/);
    match(text, /"sha256": "\$SHA256", "scopes": \["read", "write"\]/);
  });

  it('leads from every page to pages that exist', () => {
    for (const [path, text] of pages) {
      for (const [, to] of text.matchAll(/\]\(([^)]+\.md)\)/g)) {
        ok(pages.has(normalize(join(dirname(path), to!))), `${path} leads to ${to}`);
      }
    }
  });

  it('leads from the index to every page', () => {
    for (const path of pages.keys()) ok(path === 'index.md' || page('index').includes(`](${path})`), path);
  });

  it('is the same when it is made again', async () => deepEqual([...(await pagesOf(catalogue))], [...pages]));

  it('shows on every page a configuration', () => {
    for (const [path, text] of pages) ok(documentsOf(text).length > 0, path);
  });

  it('shows only configurations that check -t accepts, without a warning except for variables', async () => {
    const registry = new Registry(catalogue, toolServices()).with([exampleModule], true);
    for (const [path, text] of pages) {
      for (const document of documentsOf(text)) {
        const { errors, warnings } = await examine(document, {}, registry, !withFiles.has(path));
        // Variables are filled in where a configuration is deployed.
        const others = warnings.filter(({ code }) => code !== 'CONFIG_VARIABLE');
        deepEqual([...errors, ...others].map(String), [], path);
      }
    }
    await registry.close();
  });

  it('is not made when an example is no good configuration', async () => {
    await rejects(pagesOf(withExample({ wait: '5' })), /the example of x\/y is no good configuration:.*DURATION/s);
  });

  it('is not made when a component has no example', async () => {
    await rejects(pagesOf(withExample(undefined)), /the schema of x\/y at endpoint level has no example/);
  });

  describe('as files', () => {
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
      await run(process.execPath, [join(top, 'scripts/docs.ts'), '--out', folder]);
    });
    after(() => rmSync(folder, { recursive: true }));

    it('is written below the folder that was asked for', () => {
      deepEqual(globSync('**/*.md', { cwd: folder }).sort(), [...pages.keys()].sort());
      equal(readFileSync(join(folder, 'qos/ratelimit/router.md'), 'utf8'), page('qos/ratelimit/router'));
    });

    it('shows a configuration that the command accepts', async () => {
      const file = join(folder, 'example.json');
      writeFileSync(file, JSON.stringify(documentsOf(page('root'))[0]));
      const { stdout } = await run(process.execPath, [join(top, 'kernel/bin.ts'), 'check', '-t', '-c', file]);
      match(stdout, /Syntax OK!/);
    });
  });
});

/** The catalogue with one more component, whose only example this is. */
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
  return { ...catalogue, plugins: { ...catalogue.plugins, 'x/y': async () => ({ plugin }) } };
}
