import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import type { Offer } from '#contract';
import { openHarness } from '../../../kernel/testing/index.ts';
import { redisConnections } from '../../../plugins/clients/redis/port.ts';
import { plugin } from '../../../plugins/redis/index.ts';
import { createFolder, sluice } from '../../kernel/cli/command.ts';
import { freePort, until } from '../../support/conditions.ts';
import { rememberingSinks, startGateway } from '../../support/gateway.ts';
import { startRedis, withoutRedis } from '../../support/redis.ts';

const pool = { name: 'a', address: 'localhost:6379' };
const open = (config: object) => openHarness(plugin, 'service', config);

describe('redis', () => {
  it('provides its connections by name', async () => {
    const gate = await openHarness(
      plugin,
      'service',
      {
        connection_pools: [pool],
        clusters: [{ name: 'b', addresses: ['10.0.0.1', '[::1]:7000'] }],
        sentinels: [{ name: 'c', master_name: 'm', addresses: ['s'] }],
      },
      { role: 'owner' },
    );
    const [{ port, value }] = gate.attached.offers as readonly [Offer];
    equal(port, redisConnections);
    deepEqual(
      [...(value as Map<string, { isOneServer: boolean }>)].map(([name, { isOneServer }]) => [name, isOneServer]),
      [
        ['a', true],
        ['b', false],
        ['c', true],
      ],
    );
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('warns if no connection is declared', async () => {
    deepEqual(
      (await open({})).warnings.map(({ code }) => code),
      ['REDIS_UNUSED'],
    );
  });

  it('warns about every pool setting, because there is only one connection for each name', async () => {
    const unused = {
      pool_size: 20,
      min_idle_conns: 1,
      max_idle_conns: 1,
      max_active_conns: 1,
      pool_timeout: '1s',
      conn_max_idle_time: '30m',
      conn_max_life_time: '1h',
      max_retries: 3,
      opentelemetry: { disable_metrics: false, disable_traces: false, traces_static_attributes: [] },
    };
    const { opentelemetry, ...flat } = unused;
    for (const [list, connection] of Object.entries({
      connection_pools: pool,
      clusters: { name: 'a', addresses: ['b'] },
      sentinels: { name: 'a', master_name: 'm', addresses: ['b'] },
    })) {
      const { warnings } = await open({ [list]: [{ ...connection, ...unused }] });
      deepEqual(
        warnings.map(({ code, pointer }) => `${code} ${pointer}`),
        [...Object.keys(flat), ...Object.keys(opentelemetry).map((field) => `opentelemetry/${field}`)].map(
          (field) => `OPTION_UNUSED /${list}/0/${field}`,
        ),
      );
      match(warnings[0]!.message, /^pool_size has no effect: commands share one connection/);
    }
  });

  it('does not warn about a pool setting that matches this behavior', async () => {
    const kept = { pool_size: 0, max_active_conns: 0, conn_max_life_time: '0s', max_retries: -1 };
    const opentelemetry = { disable_metrics: true, disable_traces: true };
    deepEqual((await open({ connection_pools: [{ ...pool, ...kept, opentelemetry }] })).warnings, []);
  });

  for (const [what, config, code, pointer] of [
    [
      'two connections of one name',
      { connection_pools: [pool], clusters: [{ name: 'a', addresses: ['b'] }] },
      'REDIS_NAME',
      '/clusters/0/name',
    ],
    [
      'an address with a scheme',
      { connection_pools: [{ ...pool, address: 'redis://localhost' }] },
      'REDIS_ADDRESS',
      '/connection_pools/0/address',
    ],
    [
      'a port that is none',
      { connection_pools: [{ ...pool, address: 'localhost:99999' }] },
      'REDIS_ADDRESS',
      '/connection_pools/0/address',
    ],
    [
      'an address with a path',
      { clusters: [{ name: 'a', addresses: ['ok', 'a/b'] }] },
      'REDIS_ADDRESS',
      '/clusters/0/addresses/1',
    ],
    [
      'a dial_timeout of 0',
      { connection_pools: [{ ...pool, dial_timeout: '0s' }] },
      'REDIS_DURATION',
      '/connection_pools/0/dial_timeout',
    ],
    [
      'a command_timeout of 0',
      { connection_pools: [{ ...pool, command_timeout: '0s' }] },
      'REDIS_DURATION',
      '/connection_pools/0/command_timeout',
    ],
    [
      'authorities that cannot be read',
      { connection_pools: [{ ...pool, tls: { ca_certs: ['nowhere.pem'] } }] },
      'CLIENT_TLS_FILE',
      '/connection_pools/0/tls/ca_certs/0',
    ],
  ] as const) {
    it(`rejects ${what}`, () =>
      rejects(open(config), ({ errors }) => {
        deepEqual(
          errors.map((error: { code: string; pointer: string }) => [error.code, error.pointer]),
          [[code, pointer]],
        );
        return true;
      }));
  }
  for (const [what, config] of Object.entries({
    'a connection without a name': { connection_pools: [{ address: 'a' }] },
    'a server without an address': { connection_pools: [{ name: 'a' }] },
    'a cluster without members': { clusters: [{ name: 'a', addresses: [] }] },
    'sentinels of nothing': { sentinels: [{ name: 'a', addresses: ['b'] }] },
    'a field of clusters at a server': { connection_pools: [{ ...pool, max_redirects: 3 }] },
    'a database of a cluster': { clusters: [{ name: 'a', addresses: ['b'], db: 1 }] },
  })) {
    it(`rejects ${what}`, () => rejects(open(config), { code: 'CONFIG_INVALID' }));
  }

  it('hides its password in all outputs', async () => {
    const folder = createFolder();
    const file = folder.write('redis.json', {
      version: 3,
      extra_config: { redis: { connection_pools: [{ ...pool, password: 'of-the-test' }] } },
      endpoints: [],
    });
    const { out, err } = await sluice('check', '-c', file, '-ddd');
    folder.remove();
    equal(`${out}${err}`.includes('of-the-test'), false);
  });

  it('starts without a server and logs that once', async () => {
    const sinks = rememberingSinks();
    const config = {
      extra_config: {
        redis: { connection_pools: [{ ...pool, address: `127.0.0.1:${await freePort()}` }] },
        'telemetry/logging': { level: 'INFO', stdout: true },
      },
      endpoints: [],
    };
    const gateway = await startGateway(config, { sinks });
    try {
      await gateway.listen();
      await until(() => sinks.lines.some((line) => /ERROR.*a not connected: connect ECONNREFUSED/.test(line)));
    } finally {
      await gateway.close();
    }
    equal(sinks.lines.filter((line) => line.includes('ECONNREFUSED')).length, 1);
  });

  (withoutRedis ? it.skip : it)(
    'keeps a connection over a reload that leaves it as it is, and closes it with its configuration',
    async () => {
      const server = await startRedis();
      const connections = async () =>
        String(await server.command('CLIENT', 'LIST'))
          .split('\n')
          .flatMap((line) => /^id=(\d+) .*name=edge/.exec(line)?.[1] ?? []);
      const config = (database: number, timeout: string) => ({
        version: 3,
        timeout,
        extra_config: {
          redis: { connection_pools: [{ ...pool, address: server.address, client_name: 'edge', db: database }] },
        },
        endpoints: [],
      });
      const gateway = await startGateway(config(0, '1s'));
      try {
        await gateway.listen();
        await until(async () => (await connections()).length === 1);
        const [first] = await connections();
        await gateway.reload(config(0, '2s'));
        deepEqual(await connections(), [first]);
        await gateway.reload(config(1, '2s'));
        await until(async () => {
          const now = await connections();
          return now.length === 1 && now[0] !== first;
        });
        await gateway.close();
        await until(async () => (await connections()).length === 0);
      } finally {
        await gateway.close();
        await server.close();
      }
    },
  );
});
