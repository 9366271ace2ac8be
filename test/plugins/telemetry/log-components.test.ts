import { deepEqual, equal, match } from 'node:assert/strict';
import { hostname } from 'node:os';
import { offer } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { createLog, createSinks, joinLogging } from '../../../kernel/logging/index.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { applicationLog } from '../../../plugins/telemetry/logging/log-writers.ts';
import { plugin } from '../../../plugins/telemetry/logstash.ts';
import { until } from '../../support/conditions.ts';
import { remembered } from './fixture.ts';

describe('telemetry/logstash', () => {
  const lineOf = async (config: object, prefix: string, message: string): Promise<string> => {
    const stdout = remembered();
    const sinks = createSinks({ stdout, stderr: remembered() });
    const { attached, close } = await openHarness(plugin, 'service', config, {
      offers: [offer(applicationLog, { prefix })],
    });
    const own = { level: 'INFO', outputs: [{ sink: sinks.stdout, format: () => 'plain\n' }] } as const;
    const log = createLog(joinLogging([own, attached.logging ?? {}], sinks).application);
    log.at('[SERVICE: X]').warning(message);
    await until(() => stdout.text !== '');
    await close();
    sinks.close();
    return stdout.text;
  };

  it('writes messages as escaped JSON instead of the configured format', async () => {
    const line = await lineOf({ enabled: true }, '[shop]', 'say "hi"\nthere');
    const { '@timestamp': stamp, ...rest } = JSON.parse(line);
    match(stamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d$/);
    const message = '[SERVICE: X] say "hi"\nthere';
    deepEqual(rest, { '@version': 1, module: '[shop]', host: hostname(), level: 'WARNING', message });
    equal(line.split('\n').length, 2);
  });

  it('uses the product name if the log has no prefix', async () => {
    equal(JSON.parse(await lineOf({ enabled: true }, '', 'x')).module, 'SLUICE');
  });

  it('has no effect unless it is enabled', async () => {
    equal(await lineOf({ enabled: false }, '', 'x'), 'plain\n');
  });
});

describe('check of the logging components', () => {
  let registry: Registry;
  before(() => {
    registry = new Registry(catalogue, toolServices());
  });
  after(() => registry.close());

  const match = async (components: object) => {
    const document = { version: 3, endpoints: [], extra_config: components };
    const { errors, warnings } = await examine(document, {}, registry, true);
    return [...errors, ...warnings].map(({ code, pointer, hint }) => ({ code, pointer, hint }));
  };
  const logging = { 'telemetry/logging': { level: 'INFO', stdout: true } };
  const gelf = { address: 'a.test:12201', enable_tcp: true };

  for (const [namespace, config] of [
    ['telemetry/gelf', gelf],
    ['telemetry/logstash', { enabled: true }],
  ] as const) {
    it(`rejects ${namespace} without telemetry/logging`, async () => {
      const pointer = `/extra_config/${namespace.replace('/', '~1')}`;
      const hint = 'add "telemetry/logging" to extra_config at the root';
      deepEqual(await match({ [namespace]: config }), [{ code: 'COMPONENT_REQUIRED', pointer, hint }]);
    });

    it(`accepts ${namespace} with telemetry/logging`, async () => {
      deepEqual(await match({ ...logging, [namespace]: config }), []);
    });
  }

  it('does not warn about a log that only telemetry/gelf writes', async () => {
    deepEqual(await match({ 'telemetry/logging': { level: 'INFO' }, 'telemetry/gelf': gelf }), []);
  });

  for (const [what, config, code] of [
    ['an address without a port', { ...gelf, address: 'a.test' }, 'SCHEMA_PATTERN'],
    ['an address with a scheme', { ...gelf, address: 'udp://a.test:1' }, 'SCHEMA_PATTERN'],
    ['the port 0', { ...gelf, address: 'a.test:0' }, 'GELF_ADDRESS'],
    ['a missing transport', { address: 'a.test:1' }, 'SCHEMA_REQUIRED'],
    ['an unknown field', { ...gelf, tls: true }, 'SCHEMA_UNKNOWN_KEY'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const [first] = await match({ ...logging, 'telemetry/gelf': config });
      equal(first?.code, code);
    });
  }
});
