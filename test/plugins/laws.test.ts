import { deepEqual, doesNotThrow, equal, match, ok, rejects } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Discovery, Level, Phase, Plugin, Schema } from '#contract';
import { compileSchema } from '../../kernel/config/index.ts';
import { ConfigErrors } from '../../kernel/contract/internal.ts';
import { openHarness } from '../../kernel/testing/index.ts';
import { catalogue } from '../../plugins/index.ts';
import { backends } from '../../scripts/docs/examples.ts';
import { openDiscovery } from '../support/discovery.ts';
import { exampleOffers } from '../support/example-offers.ts';
import { pipePlugins } from '../support/pipe-plugins.ts';
import { severalBackends } from '../support/several-backends.ts';
import { underUnrelatedChanges } from '../support/unrelated-changes.ts';

const phases: readonly Phase[] = ['middleware', 'request', 'endpoint', 'proxy', 'backend', 'transport'];

/** Fields without a description, as paths. */
function undescribed(schema: Schema, path: string): string[] {
  if ('anyOf' in schema) return schema.anyOf.flatMap((choice) => undescribed(choice, path));
  if (schema.type === 'array') return undescribed(schema.items, `${path}[]`);
  if (schema.type !== 'object') return [];
  if (schema.values) return undescribed(schema.values, `${path}.*`);
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => [
    ...(field.description ? [] : [`${path}.${key}`]),
    ...undescribed(field, `${path}.${key}`),
  ]);
}

/** Paths of fields that are described as having no effect but are not marked as `unused`. */
function describedAsUnused(schema: Schema, path: string): string[] {
  if ('anyOf' in schema) return schema.anyOf.flatMap((choice) => describedAsUnused(choice, path));
  if (schema.type === 'array') return describedAsUnused(schema.items, `${path}[]`);
  if (schema.type !== 'object') return [];
  const fields = Object.entries({ ...schema.properties, ...(schema.values && { '*': schema.values }) });
  return fields.flatMap(([key, field]) => [
    ...(/^(?:without|has no) effect\b/i.test(field.description ?? '') ? [`${path}.${key}`] : []),
    ...describedAsUnused(field, `${path}.${key}`),
  ]);
}

function discoveryName({ name }: Discovery): string {
  return `discovery/${name}`;
}

/** Returns the path of a plugin's file, which its name determines. */
function fileOf(name: string): string | undefined {
  return [`plugins/${name}.ts`, `plugins/${name}/index.ts`].find(existsSync);
}

/** The parts of every plugin, so that a test is registered only if it applies. */
const plugins = await Promise.all(
  Object.entries(catalogue.plugins).map(async ([namespace, load]) => ({ namespace, ...(await load()) })),
);

describe('the plugin', () => {
  for (const { namespace, plugin } of plugins) {
    const { name, description, places = [], encodings = [], discoveries = [] } = plugin;
    describe(namespace, () => {
      it('has a description that is a sentence', () => match(description, /^[A-Z].*\.$/));

      it('has the name under which the manifest lists it', () => equal(name, namespace));

      it('is in the file that its name indicates', () => ok(fileOf(name), `no file for ${name}`));

      if (places.length === 0 && !plugin.always) {
        it('provides encodings and service discovery under names that no other plugin uses', () => {
          const brought = [
            ...encodings.map((encoding) => `encoding/${encoding.name}`),
            ...discoveries.map(discoveryName),
          ];
          ok(brought.includes(name), `${name} brings ${brought.join() || 'nothing'}`);
        });
      }

      if (discoveries.length > 0) {
        it('discovers hosts for two configurations one after the other, and releases all its resources', async () => {
          const harness = await openDiscovery(plugin);
          await harness.reload();
          deepEqual(await harness.close(), { kept: 0, deferred: 0 });
        });
      }

      for (const { at, schema } of places) describe(`at ${at} level`, () => lawsOfPlace(plugin, at, schema));
    });
  }
});

function lawsOfPlace(plugin: Plugin, at: Level, schema: Schema): void {
  const { name } = plugin;
  it('has a description for every configuration field', () => deepEqual(undescribed(schema, name), []));

  it('marks fields without effect in the schema, not only in the description', () =>
    deepEqual(describedAsUnused(schema, name), []));

  it('has a schema that compiles', () => doesNotThrow(() => compileSchema(schema)({}, '')));

  it('rejects a configuration that is not an object', () => rejects(openHarness(plugin, at, 'nonsense'), ConfigErrors));

  it('has example configurations that are valid and differ from each other', () => {
    const examples = examplesOf(schema);
    ok(examples.length > 0, `the schema of ${name} at ${at} has no "examples"`);
    deepEqual(new Set(examples.map((example) => JSON.stringify(example))).size, examples.length);
  });

  for (const [index, example] of examplesOf(schema).entries()) {
    it(`starts, reloads, releases all resources, and has hooks only for phases whose order lists the plugin, with example ${index + 1} of its schema`, async () => {
      const harness = await openHarness(plugin, at, example, {
        endpoint: { method: 'POST', ...severalBackends(name) },
        offers: await exampleOffers(plugin),
        plugins: pipePlugins(plugin, at),
        ...(backends[name] && { backend: backends[name] }),
      });
      deepEqual(harness.warnings, []);
      const unordered = phases.filter((phase) => phase in harness.attached && !catalogue.order[phase].includes(name));
      deepEqual(unordered, []);
      if (at === 'backend') equal(harness.attached.protocol?.hostless ?? false, plugin.hostless ?? false);
      await harness.reload(example);
      deepEqual(await harness.close(), { kept: 0, deferred: 0 });
    });

    it(`is not affected by changes to settings of the configuration that it does not read: example ${index + 1} of its schema`, async () => {
      const { before, outliving, after } = await underUnrelatedChanges(plugin, at, example);
      deepEqual(outliving, before);
      deepEqual(after, before);
    });
  }
}

/** The example configurations of the reference, which these tests use. */
function examplesOf(schema: Schema): readonly unknown[] {
  return schema.examples ?? [];
}

describe('the list of plugins with commands', () => {
  it('is complete, because only these plugins are loaded to list commands', () => {
    const bringing = plugins.filter(({ plugin }) => plugin.commands).map(({ namespace }) => namespace);
    deepEqual(catalogue.commands?.toSorted(), bringing.toSorted());
  });
});

describe('the plugin order', () => {
  const known = new Set([...Object.keys(catalogue.plugins), ...catalogue.compatibility!.namespaces]);
  for (const [phase, names] of Object.entries(catalogue.order)) {
    it(`lists each plugin once in the ${phase} phase`, () => {
      deepEqual(
        names.filter((name, at) => !known.has(name.replace(/^service: /, '')) || names.indexOf(name) !== at),
        [],
      );
    });
  }
});
