import { deepEqual, fail, match, ok, rejects } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { ConfigErrors, type Discovery, type Level, type Phase, type Plugin, type Schema } from '#contract';
import { compileSchema } from '../../kernel/config/index.ts';
import { stand } from '../../kernel/testing/index.ts';
import { catalogue } from '../../plugins/index.ts';
import { standDiscovery } from '../support/discovery.ts';

/** For every place of every plugin a configuration that is good; the law about them fails for a place without one. */
const good: Readonly<Record<string, Partial<Record<Level, unknown>>>> = {
  'admin/api': { service: { disable_write: true, allowed_ips: ['10.0.0.0/8'] } },
  'admin/reload': { service: { drain_timeout: '1m' } },
  'backend/http': { backend: { return_error_details: 'alias' } },
  'backend/http/client': { backend: { no_redirect: true } },
  proxy: {
    endpoint: { static: { strategy: 'always', data: { a: 1 } } },
    backend: { flatmap_filter: [{ type: 'del', args: ['a'] }] },
  },
  'qos/circuit-breaker': { backend: { interval: 60, timeout: 10, max_errors: 1 } },
  'qos/circuit-breaker/http': { backend: { interval: 60, timeout: 10, max_errors: 1, valid_status_codes: [200] } },
  'qos/ratelimit/router': { endpoint: { max_rate: 10, client_max_rate: 1, strategy: 'ip' } },
  'security/http': { service: { frame_deny: true }, endpoint: { content_type_nosniff: true } },
  'telemetry/logging': { service: { level: 'INFO' }, backend: { backend: { prefix: 'x' } } },
  'validation/json-schema': { endpoint: { type: 'object', required: ['name'] } },
};

const phases: readonly Phase[] = ['router', 'endpoint', 'proxy', 'backend', 'transport'];

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

function discoveryName({ name }: Discovery): string {
  return `discovery/${name}`;
}

/** The file of a plugin follows from its name. */
function fileOf(name: string): string | undefined {
  return [`plugins/${name}.ts`, `plugins/${name}/index.ts`].find(existsSync);
}

describe('every plugin', () => {
  for (const [namespace, load] of Object.entries(catalogue.plugins)) {
    describe(namespace, () => {
      let plugin: Plugin;
      before(async () => {
        ({ plugin } = await load());
      });

      it('stands in the file its name says, or is an alias', () => {
        if (plugin.name === namespace) ok(fileOf(namespace), `no file for ${namespace}`);
        else ok(plugin.aliases?.includes(namespace), `${namespace} is no alias of ${plugin.name}`);
      });

      it('tells in one sentence what it does', () => match(plugin.description, /^[A-Z].*\.$/));

      it('describes every field of its configuration', () => {
        for (const place of plugin.places ?? []) deepEqual(undescribed(place.schema, namespace), []);
      });

      it('brings a place, or an encoding or a discovery of its own name', () => {
        const { encodings = [], discoveries = [], places = [] } = plugin;
        if (places.length > 0) return;
        const brought = [...encodings.map(({ name }) => `encoding/${name}`), ...discoveries.map(discoveryName)];
        ok(brought.includes(plugin.name), `${plugin.name} brings ${brought.join() || 'nothing'}`);
      });

      it('discovers for two configurations in turn, and gives everything back', async () => {
        if (!plugin.discoveries) return;
        const standing = await standDiscovery(plugin);
        await standing.reload();
        deepEqual(await standing.close(), { kept: 0, deferred: 0 });
      });

      it('has a schema that compiles at every place', () => {
        for (const place of plugin.places ?? []) compileSchema(place.schema)({}, '');
      });

      it('takes a good configuration twice over, and gives everything back', async () => {
        for (const { at } of plugin.places ?? []) {
          const config = good[plugin.name]?.[at] ?? fail(`no good configuration for ${plugin.name} at ${at}`);
          const standing = await stand(plugin, at, config);
          await standing.reload(config);
          deepEqual(await standing.close(), { kept: 0, deferred: 0 });
        }
      });

      it('refuses a configuration that is no object', async () => {
        for (const { at } of plugin.places ?? []) await rejects(stand(plugin, at, 'nonsense'), ConfigErrors);
      });

      it('has its place in the order of every phase it stands in', async () => {
        for (const { at } of plugin.places ?? []) {
          const standing = await stand(plugin, at, good[plugin.name]![at]);
          for (const phase of phases) {
            if (!(phase in standing.attached)) continue;
            ok(catalogue.order[phase].includes(plugin.name), `${plugin.name} is missing in order.${phase}`);
          }
          await standing.close();
        }
      });
    });
  }
});
