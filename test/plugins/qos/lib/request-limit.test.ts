import { deepEqual, doesNotThrow, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { type DispatchFunc, inject } from 'light-my-request';
import type { Log } from '#contract';
import { type ConfigErrors, silentLog } from '../../../../kernel/contract/internal.ts';
import { openEngine } from '../../../../kernel/control/engine.ts';
import { createEventLog } from '../../../../kernel/control/event-log.ts';
import { Phases } from '../../../../kernel/runtime/build/phases.ts';
import { readConfig } from '../../../../kernel/runtime/build/read-config.ts';
import { ReadFiles } from '../../../../kernel/runtime/prints/read-files.ts';
import { type Harness, type HarnessOptions, openHarness, silentSinks } from '../../../../kernel/testing/index.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/router.ts';

const byTenant = { client_max_rate: 2, client_capacity: 2, every: '10m', strategy: 'header', key: 'X-Tenant' };

/** The single error of a rejected configuration. */
async function issueOf(config: object, around: HarnessOptions = {}) {
  const error = await openHarness(plugin, 'endpoint', config, around).then(
    () => null,
    (refused: ConfigErrors) => refused,
  );
  equal(error?.errors.length, 1);
  const { code, pointer, message, hint, fix } = error!.errors[0]!;
  return { code, pointer, message, hint, fix };
}

const warningsOf = ({ warnings }: Harness) => warnings.map(({ code, pointer, message }) => [code, pointer, message]);

/** An endpoint in a worker that requests tokens from the main process; `wait` is the response of the main process. */
async function askingProcess(config: object) {
  const requested: unknown[] = [];
  const responses = { wait: 0, requested };
  const { generations, registry } = openEngine(catalogue, {
    sinks: silentSinks,
    events: createEventLog(),
    ask: async (_revision, id, question) => {
      requested.push([id, question]);
      return [responses.wait > 0 ? 0 : 1, responses.wait];
    },
  });
  const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
  const endpoints = [{ endpoint: '/a', backend, extra_config: { [plugin.name]: config } }];
  const prepared = await generations.prepare(
    await readConfig({ version: 3, endpoints }, {}, registry),
    new ReadFiles(),
    1,
    new Phases(),
  );
  prepared.commit();
  const send = async (tenant?: string) => {
    const headers = tenant === undefined ? {} : { 'X-Tenant': tenant };
    return (await inject(generations.current.serve as unknown as DispatchFunc, { url: '/a', headers })).statusCode;
  };
  const close = async () => {
    await generations.close();
    await registry.close();
  };
  return { answers: responses, requested, send, close };
}

describe('the configuration of a rate limit', () => {
  for (const [field, config, needed] of [
    ['capacity', { client_max_rate: 1, strategy: 'ip', capacity: 5 }, 'max_rate'],
    ['client_capacity', { max_rate: 1, client_capacity: 5 }, 'client_max_rate'],
    ['strategy', { max_rate: 1, strategy: 'ip' }, 'client_max_rate'],
  ] as const) {
    it(`causes a warning about ${field} without ${needed}`, async () => {
      const gate = await openHarness(plugin, 'endpoint', config);
      deepEqual(warningsOf(gate), [['RATELIMIT_UNUSED', `/${field}`, `${field} has no effect without ${needed}`]]);
    });
  }

  it('causes no warning if all its fields have an effect', async () => {
    const gate = await openHarness(plugin, 'endpoint', { ...byTenant, max_rate: 1, capacity: 1 });
    deepEqual(gate.warnings, []);
  });

  it('is logged at start', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, debug: (line) => lines.push(String(line)) };
    await openHarness(plugin, 'endpoint', { max_rate: 5 }, { services: { log } });
    await openHarness(plugin, 'endpoint', byTenant, { services: { log } });
    deepEqual(lines, [
      '[Ratelimit] Rate 5 every 1000ms, capacity 5',
      '[Ratelimit] Client rate 2 every 600000ms, capacity 2, by header X-Tenant',
    ]);
  });

  for (const [what, config, code, pointer, message, hint] of [
    ['a missing rate', { capacity: 1 }, 'RATELIMIT_RATE', '', 'neither max_rate nor client_max_rate is set'],
    [
      'a client limit without a strategy',
      { client_max_rate: 1 },
      'RATELIMIT_STRATEGY',
      '/strategy',
      'client_max_rate requires a strategy',
      'write one of ip, header, param',
    ],
    [
      'an unknown strategy',
      { client_max_rate: 1, strategy: 'cookie' },
      'RATELIMIT_STRATEGY',
      '/strategy',
      '"cookie" is not a valid strategy',
      'write one of ip, header, param',
    ],
    [
      'an unknown strategy that nothing uses',
      { max_rate: 1, strategy: 'cookie' },
      'RATELIMIT_STRATEGY',
      '/strategy',
      '"cookie" is not a valid strategy',
      'write one of ip, header, param',
    ],
    [
      'a header strategy without a key',
      { client_max_rate: 1, strategy: 'header' },
      'RATELIMIT_KEY',
      '/key',
      'the strategy header requires a key',
    ],
    [
      'a param strategy without a key',
      { client_max_rate: 1, strategy: 'param' },
      'RATELIMIT_KEY',
      '/key',
      'the strategy param requires a key',
    ],
    [
      'an invalid header name as key',
      { client_max_rate: 1, strategy: 'header', key: 'a b' },
      'RATELIMIT_KEY',
      '/key',
      '"a b" is not a valid header name',
    ],
    [
      'a param the endpoint does not have',
      { client_max_rate: 1, strategy: 'param', key: 'id' },
      'RATELIMIT_KEY',
      '/key',
      'the endpoint has no placeholder {id}',
    ],
    [
      'a period below one second',
      { max_rate: 1, every: '500ms' },
      'RATELIMIT_EVERY',
      '/every',
      'the period must be at least 1s',
      'set the rate for a period of 1s',
    ],
  ] as const) {
    it(`is rejected with ${what}`, async () => {
      deepEqual(await issueOf(config), { code, pointer, message, hint, fix: undefined });
    });
  }

  it('suggests a similar path parameter', async () => {
    const config = { client_max_rate: 1, strategy: 'param', key: 'tenent' };
    const { hint, fix } = await issueOf(config, { endpoint: { endpoint: '/{user}/{tenant}/x' } });
    deepEqual([hint, fix], ['did you mean "tenant"?', { value: 'tenant' }]);
  });

  it('suggests no path parameter if several are equally similar', async () => {
    const config = { client_max_rate: 1, strategy: 'param', key: 'tenants' };
    const { hint, fix } = await issueOf(config, { endpoint: { endpoint: '/{tenant1}/{tenant2}' } });
    deepEqual([hint, fix], ['did you mean "tenant1"?', undefined]);
  });

  it('suggests a similar strategy', async () => {
    const { hint, fix } = await issueOf({ client_max_rate: 1, strategy: 'Params' });
    deepEqual([hint, fix], ['did you mean "param"?', { value: 'param' }]);
  });

  for (const [endpoint, key] of [
    ['/files/*', 'id'],
    ['/files/{id}', 'wildcard'],
  ] as const) {
    it(`is rejected with the path parameter ${key} for ${endpoint}`, async () => {
      const config = { client_max_rate: 1, strategy: 'param', key };
      equal((await issueOf(config, { endpoint: { endpoint } })).code, 'RATELIMIT_KEY');
    });
  }

  it('makes the main process count in the limit of the client first, and then in the limit of all clients', async () => {
    const { answers: responses, requested, send, close } = await askingProcess({ ...byTenant, max_rate: 1 });
    try {
      equal(await send('x'), 500);
      responses.wait = 5000;
      equal(await send('x'), 429);
      const name = `${plugin.name} {"endpoint":"/a","`;
      const client = [`${name}key":"X-Tenant","method":"GET","of":"clients","strategy":"header"}`, ['x', 1]];
      deepEqual(requested, [client, [`${name}method":"GET","of":"all"}`, ['', 1]], client]);
    } finally {
      await close();
    }
  });

  it('does not make workers forget idle clients', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const { close } = await askingProcess(byTenant);
      doesNotThrow(() => mock.timers.tick(60_000));
      await close();
    } finally {
      mock.timers.reset();
    }
  });
});
