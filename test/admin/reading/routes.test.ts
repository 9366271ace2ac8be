import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigText, type Operations } from '#kernel';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { openGateway } from '../../support/gateway.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('information about routes over the admin API', () => {
  let home: string;
  let gateway: Operations;
  let admin: ReadingPort;

  const backend = { host: ['http://127.0.0.1:9'], url_pattern: '/up' };
  const limit = { 'qos/ratelimit/router': { max_rate: 1000 } };
  const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 } };
  const config = {
    version: 3,
    extra_config: { 'security/http': { frame_deny: true } },
    endpoints: [
      { endpoint: '/users', backend: [{ ...backend, extra_config: breaker }], extra_config: limit },
      { endpoint: '/users/{id}', timeout: '3s', backend: [backend] },
      { endpoint: '/orders', method: 'POST', output_encoding: 'no-op', backend: [backend] },
    ],
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'routes-'));
    const file = join(home, 'gateway.json');
    await writeFile(file, JSON.stringify(config, null, 2));
    gateway = await openGateway(file, { port: 0, sinks: silentSinks });
    admin = await openReading(gateway);
  });

  after(async () => {
    await admin.close();
    await gateway.close();
    await rm(home, { recursive: true });
  });

  const ids = async (query: string): Promise<string[]> =>
    (await admin.ask(`/v1/routes${query}`)).body.routes.map(({ id }: { id: string }) => id);

  describe('GET /v1/routes', () => {
    it('returns all properties of an endpoint', async () => {
      const { backends, line, column, file, ...route } = (await admin.ask('/v1/routes')).body.routes[0];
      deepEqual(route, {
        id: 'GET /users',
        method: 'GET',
        pattern: '/users',
        outputEncoding: 'json',
        timeoutMs: 2000,
        namespaces: ['qos/ratelimit/router'],
        counters: { calls: 0, errors: 0, streams: 0 },
        pointer: '/endpoints/0',
      });
      ok(line > 1 && column > 0);
      equal(file, join(home, 'gateway.json'));
      deepEqual(backends[0].namespaces, ['qos/circuit-breaker', 'backend/http/client']);
    });

    it('returns the line of each backend in the file', async () => {
      const [first, second] = (await admin.ask('/v1/routes')).body.routes;
      ok(first.backends[0].line > first.line && first.backends[0].line < second.line);
    });

    it('returns the numbers of calls and failures', async () => {
      await gateway.inject('/users');
      await gateway.inject('/users');
      const { calls, errors } = (await admin.ask('/v1/routes')).body.routes[0].counters;
      deepEqual([calls, errors], [2, 2]);
    });

    for (const [query, results] of [
      ['?method=post', ['POST /orders']],
      ['?prefix=/users', ['GET /users', 'GET /users/{id}']],
      ['?namespace=qos/ratelimit/router', ['GET /users']],
      ['?namespace=qos/circuit-breaker', ['GET /users']],
      ['?prefix=/users&method=POST', []],
    ] as const) {
      it(`returns ${results.length} of three endpoints for ${query}`, async () => {
        deepEqual(await ids(query), results);
      });
    }

    it('returns only endpoints that can stream, if requested', async () => {
      const socket = { endpoint: '/socket', extra_config: { websocket: {} } };
      const events = { endpoint: '/events', output_encoding: 'sse', backend: [{ ...backend, encoding: 'sse' }] };
      const sockets = { ...socket, backend: [{ ...backend, host: ['ws://127.0.0.1:9'], disable_host_sanitize: true }] };
      const all = JSON.stringify({ ...config, endpoints: [...config.endpoints, sockets, events] });
      const other = await openGateway(new ConfigText(all, 'json'), { port: 0, sinks: silentSinks });
      const port = await openReading(other);
      try {
        const { routes } = (await port.ask('/v1/routes?streaming=true')).body;
        deepEqual(
          routes.map(({ id }: { id: string }) => id),
          ['GET /socket', 'GET /events'],
        );
      } finally {
        await port.close();
        await other.close();
      }
    });

    it('returns pages with a cursor', async () => {
      const { routes, cursor } = (await admin.ask('/v1/routes?limit=2')).body;
      equal(routes.length, 2);
      deepEqual(await ids(`?limit=2&cursor=${encodeURIComponent(cursor)}`), ['POST /orders']);
    });

    it('returns no cursor on the last page', async () => {
      equal((await admin.ask('/v1/routes')).body.cursor, null);
    });

    it('rejects a limit that is too large', async () => {
      equal((await admin.ask('/v1/routes?limit=501')).status, 400);
    });
  });

  describe('GET /v1/routes/match', () => {
    const matched = async (query: string) => (await admin.ask(`/v1/routes/match?${query}`)).body;

    it('returns the endpoint, its parameters and its place', async () => {
      const { match: results } = await matched('path=/users/7');
      deepEqual([results.kind, results.route.id, results.params], ['route', 'GET /users/{id}', { id: '7' }]);
      ok(results.route.line > 1);
    });

    it('returns the allowed methods', async () => {
      const { match: results } = await matched('method=GET&path=/orders');
      deepEqual([results.status, results.allow], [405, ['POST']]);
    });

    it('returns the target of a redirect', async () => {
      const { match: results } = await matched('path=/users/');
      deepEqual([results.kind, results.location], ['redirect', '/users']);
    });

    it('reports that no endpoint matches, and similar routes', async () => {
      const { match: results, nearMisses } = await matched('path=/user');
      equal(results.status, 404);
      equal(nearMisses[0].route.id, 'GET /users');
    });

    it('requires a path', async () => {
      const { status, body } = await admin.ask('/v1/routes/match?method=GET');
      equal(status, 400);
      match(body.detail, /path is missing/);
    });
  });

  describe('GET /v1/plugins', () => {
    const plugin = async (name: string) =>
      (await admin.ask('/v1/plugins')).body.plugins.find((one: { name: string }) => one.name === name);

    it('returns where a component is used, by pointer and line', async () => {
      const { places } = await plugin('qos/circuit-breaker');
      deepEqual(
        places.map(({ pointer }: { pointer: string }) => pointer),
        ['/endpoints/0/backend/0/extra_config/qos~1circuit-breaker'],
      );
      ok(places[0].line > 1);
    });

    it('returns where an encoding is used', async () => {
      const { places } = await plugin('encoding/no-op');
      equal(places[0].pointer, '/endpoints/2/output_encoding');
    });

    it('returns the backends of a protocol, even if they do not name it', async () => {
      equal((await plugin('backend/http/client')).places.length, 3);
    });

    it('includes plugins that are not used', async () => {
      const { places, instances, calls } = await plugin('encoding/xml');
      deepEqual([places, instances, calls], [[], 0, 0]);
    });

    it('lists all namespaces of a plugin', async () => {
      const { namespaces } = await plugin('qos/circuit-breaker');
      deepEqual(namespaces, ['qos/circuit-breaker', 'github.com/devopsfaith/krakend-circuitbreaker/gobreaker']);
    });

    it('counts one instance per place while one configuration is active', async () => {
      equal((await plugin('backend/http/client')).instances, 3);
    });

    it('counts the calls of the endpoints that use a plugin', async () => {
      const before = await plugin('qos/circuit-breaker');
      const service = await plugin('security/http');
      await gateway.inject('/users');
      await gateway.inject('/users/7');
      equal((await plugin('qos/circuit-breaker')).calls, before.calls + 1);
      equal((await plugin('security/http')).errors, service.errors + 2);
    });
  });

  describe('GET /v1/schema', () => {
    it('returns the schema of the whole configuration', async () => {
      const { $id, definitions } = (await admin.ask('/v1/schema')).body;
      match($id, /^urn:sluice:schema:/);
      ok(definitions['backend.qos.circuit-breaker']);
    });

    for (const written of ['qos/circuit-breaker/http', 'qos%2Fcircuit-breaker%2Fhttp']) {
      it(`returns the schema of one component for ${written}`, async () => {
        const { body } = await admin.ask(`/v1/schema/${written}`);
        ok(body.properties.valid_status_codes);
      });
    }

    it('suggests the nearest name for an unknown component', async () => {
      const { status, body } = await admin.ask('/v1/schema/qos/circuit-braker');
      equal(status, 404);
      match(body.detail, /did you mean qos\/circuit-breaker\?/);
    });
  });

  describe('GET /v1/audit', () => {
    it('returns recommendations with their places', async () => {
      const { recommendations, stats } = (await admin.ask('/v1/audit')).body;
      equal(stats.endpoints, 3);
      const noTls = recommendations.find(({ rule }: { rule: string }) => rule === '2.1.2');
      equal(noTls.severity, 'HIGH');
      equal(noTls.instances[0].file, join(home, 'gateway.json'));
    });
  });

  describe('GET /v1/workers and /v1/generations', () => {
    it('return one process for a gateway without workers', async () => {
      const { workers } = (await admin.ask('/v1/workers')).body;
      const { uptimeMs, requests, connections, loopLagMs, rssBytes, heapUsedBytes, cpuMs, ...rest } = workers[0];
      ok(connections >= 0 && cpuMs > 0);
      ok(uptimeMs >= 0 && requests > 0 && loopLagMs >= 0 && rssBytes > heapUsedBytes && heapUsedBytes > 0);
      const { hash } = gateway.status;
      deepEqual(rest, { id: 1, pid: process.pid, state: 'up', revision: 1, hash, lostLines: 0 });
    });

    it('return the active configuration', async () => {
      const { generations } = (await admin.ask('/v1/generations')).body;
      const { ageMs, ...rest } = generations[0];
      ok(ageMs >= 0);
      deepEqual([generations.length, rest], [1, { revision: 1, state: 'current', requests: 0, streams: 0 }]);
    });
  });

  describe('DELETE /v1/caches/{name}', () => {
    it('reports an unknown name', async () => {
      const { status, body } = await admin.send('DELETE', '/v1/caches/dns');
      equal(status, 404);
      match(body.detail, /unknown cache dns/);
    });
  });
});
