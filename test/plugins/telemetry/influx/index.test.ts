import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { hostname } from 'node:os';
import type { Operations } from '#kernel';
import { toolServices } from '../../../../kernel/cli/tools.ts';
import { Registry } from '../../../../kernel/registry/registry.ts';
import { examine } from '../../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { plugin } from '../../../../plugins/telemetry/influx/index.ts';
import { InfluxServer } from '../../../../plugins/telemetry/influx/server.ts';
import { makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { type Point, startReceiver } from './receiver.ts';

const program = bundledProgram();

describe('telemetry/influx', function () {
  this.timeout(180_000);
  let backend: TestBackend;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;
  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    receiver = await startReceiver();
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await receiver.close();
    await backend.close();
  });

  const config = (influx: object = {}, metrics: object | null = {}, more: object = {}) => ({
    version: 3,
    endpoints: [
      { endpoint: '/u/{id}', backend: [{ host: [backend.url], url_pattern: '/a b,c=d' }] },
      { endpoint: '/failing', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/b' }] },
    ],
    extra_config: {
      'telemetry/logging': { level: 'DEBUG', stdout: true },
      ...(metrics && { 'telemetry/metrics': { endpoint_disabled: true, collection_time: '20ms', ...metrics } }),
      'telemetry/influx': { address: receiver.url, ttl: '60ms', ...influx },
    },
    ...more,
  });
  const start = async (given: object = config(), options: object = {}) => {
    gateway = await startGateway(given, { sinks, ...options });
    const { port } = await gateway.listen();
    return async (path: string) => {
      await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).text();
    };
  };
  const points = (): Point[] => receiver.writes.flatMap((write) => write.points);
  const matching = (measurement: string, tags: object = {}): Point[] =>
    points().filter(
      (point) =>
        point.measurement === measurement && Object.entries(tags).every(([name, value]) => point.tags[name] === value),
    );
  const counted = (measurement: string, tags: object): number =>
    matching(measurement, tags).reduce((sum, { fields }) => sum + (fields['count'] ?? 0), 0);

  it('writes the totals and the changes of the metrics once per ttl', async () => {
    const ask = await start();
    const began = Math.floor(Date.now() / 1000);
    await ask('/u/1');
    await ask('/u/2');
    const tags = { host: hostname(), name: '/u/:id', status: '200' };
    await until(() => counted('responses', tags) === 2);
    await ask('/u/3');
    await until(() => counted('responses', tags) === 3);
    const last = matching('responses', tags).at(-1)!;
    deepEqual(last.fields['total'], 3);
    deepEqual(last.integers, ['total', 'count']);
    ok(last.seconds >= began && last.seconds <= Date.now() / 1000);
    const [{ url }] = receiver.writes as [(typeof receiver.writes)[0]];
    equal(url, '/write?db=krakend&precision=s');
    const pipe = { host: hostname(), layer: 'pipe', name: '/u/:id', complete: 'true', error: 'false' };
    equal(counted('requests', pipe), 3);
    const writes = receiver.writes.length;
    await until(() => receiver.writes.length >= writes + 2);
    equal(counted('requests', pipe), 3);
    deepEqual(matching('requests', pipe).at(-1)!.fields, { total: 3, count: 0 });
  });

  it('writes histograms of the last interval, and no empty ones', async () => {
    const ask = await start(config({ ttl: '300ms' }));
    await ask('/u/1');
    const names = [
      'max',
      'min',
      'mean',
      'stddev',
      'variance',
      'p0.1',
      'p0.25',
      'p0.5',
      'p0.75',
      'p0.9',
      'p0.95',
      'p0.99',
    ];
    await until(() => matching('router.response-time').length > 0);
    const pipe = { layer: 'pipe', name: '/u/:id', complete: 'true', error: 'false' };
    for (const [measurement, tags] of [
      ['router.response-size', { name: '/u/:id' }],
      ['router.response-time', { name: '/u/:id' }],
      ['requests', pipe],
    ] as const) {
      const [point] = matching(measurement, tags).filter(({ fields }) => 'max' in fields) as [Point];
      deepEqual(
        Object.keys(point.fields).filter((name) => !['total', 'count'].includes(name)),
        names,
      );
      deepEqual(
        point.integers.filter((name) => !['total', 'count'].includes(name)),
        ['max', 'min'],
      );
    }
    equal(matching('router.response-size')[0]!.fields['p0.5'], 11);
    const writes = receiver.writes.length;
    await until(() => receiver.writes.length >= writes + 2);
    equal(matching('router.response-time').length, 1);
    deepEqual(matching('router.response-time', { name: '/failing' }), []);
  });

  it('writes connection and process metrics', async () => {
    const ask = await start();
    await ask('/u/1');
    await until(() => matching('router', { direction: 'out' }).at(-1)?.fields['total'] === 1);
    deepEqual(Object.keys(matching('router', { direction: 'in' }).at(-1)!.fields), ['current', 'total', 'gauge']);
    equal(matching('router', { direction: 'in' }).at(-1)!.fields['total'], 1);
    await until(() => matching('runtime').length > 0 && matching('debug').length > 0);
    const { fields } = matching('runtime').at(-1)!;
    ok(fields['MemStats.HeapAlloc']! > 0);
    ok('GCStats.NumGC' in matching('debug').at(-1)!.fields);
    const busy = (): object[] => Array.from({ length: 200_000 }, (_, number) => ({ number }));
    await until(() => busy().length > 0 && matching('service.debug.GCStats.Pause').length > 0);
    ok(matching('service.runtime.MemStats.PauseNs')[0]!.fields['max']! > 0);
  });

  it('escapes commas, spaces and equals signs in names', async () => {
    const ask = await start();
    await ask('/u/1');
    const tags = { layer: 'backend', name: '/a b,c=d', complete: 'true', error: 'false' };
    await until(() => counted('requests', tags) === 1);
  });

  it('writes to its database with its credentials, below the path of its URL', async () => {
    await start(config({ address: `${receiver.url}/influx/`, db: 'a b&c', username: 'ada', password: 'p:ä' }));
    await until(() => receiver.writes.length > 0);
    const [{ url, headers }] = receiver.writes as [(typeof receiver.writes)[0]];
    equal(url, '/influx/write?db=a+b%26c&precision=s');
    equal(headers.authorization, `Basic ${Buffer.from('ada:p:ä').toString('base64')}`);
    deepEqual(receiver.pings, ['/influx/ping']);
    await until(() => sinks.lines.join('').includes('[SERVICE: InfluxDB] The server responds'));
  });

  it('logs a failed ping and continues', async () => {
    await start(config({ address: 'http://127.0.0.1:1', ttl: '30s' }));
    await until(() =>
      /ERROR.*\[SERVICE: InfluxDB\] Unable to ping the server: .*ECONNREFUSED/.test(sinks.lines.join('')),
    );
  });

  it('keeps the newest batches while the server is down, and sends them after the next successful write', async () => {
    receiver.state.respond = (response) => response.writeHead(receiver.writes.length <= 2 ? 500 : 204).end();
    const ask = await start(config({ buffer_size: 1, ttl: '150ms' }));
    await until(() => receiver.writes.length >= 1);
    await ask('/u/1');
    await until(() => receiver.writes.length >= 4);
    const [, second, third, fourth] = receiver.writes;
    deepEqual(fourth!.points, second!.points);
    ok(third!.points.length > 0);
    match(sinks.lines.join(''), /ERROR.*\[SERVICE: InfluxDB\] Couldn't write to server: status 500/);
    await until(() => sinks.lines.join('').includes('[SERVICE: InfluxDB] The server accepts writes again'));
  });

  it('follows no redirects', async () => {
    receiver.state.respond = (response) => response.writeHead(307, { Location: '/elsewhere' }).end();
    await start();
    await until(() => receiver.writes.length > 1);
    ok(receiver.writes.every(({ url }) => url.startsWith('/write?')));
    match(sinks.lines.join(''), /Couldn't write to server: status 307/);
  });

  it('closes immediately even if the server does not respond, and serves clients in the meantime', async () => {
    receiver.state.respond = () => {};
    const ask = await start();
    await until(() => receiver.writes.length > 0);
    await ask('/u/1');
    const began = performance.now();
    await gateway!.close();
    gateway = undefined;
    // The limit is shorter than the timeout of a write.
    ok(performance.now() - began < 9000);
    await until(async () => (await receiver.connections()) === 0);
    equal(sinks.lines.filter((line) => line.includes("Couldn't write")).length, 0);
  });

  it('writes the counts of the last interval when it closes', async () => {
    const ask = await start(config({ ttl: '1h' }));
    for (let count = 0; count < 3; count++) await ask('/u/1');
    equal(receiver.writes.length, 0);
    await gateway!.close();
    gateway = undefined;
    equal(counted('responses', { name: '/u/:id', status: '200' }), 3);
  });

  it('trusts only the certificate authorities of client_tls', async () => {
    const made = makeCertificates();
    const authority = made.authority('authority');
    const { certificatePem: cert, privateKeyPem: key } = made.issue('influx', authority);
    const secure = await startReceiver({ cert, key });
    const influx = { address: secure.url, ttl: '30ms' };
    const trust = { client_tls: { ca_certs: [authority.certificate], disable_system_ca_pool: true } };
    await start(config(influx, {}, trust));
    await until(() => secure.writes.length > 0);
    await gateway!.close();
    const writes = secure.writes.length;
    await start(config(influx));
    await until(() =>
      sinks.lines.some((line) => /Couldn't write to server: .*(?:issuer|verify|certificate)/.test(line)),
    );
    equal(secure.writes.length, writes);
    await gateway!.close();
    gateway = undefined;
    await secure.close();
    made.remove();
  });

  it('does not start a write while another one is in progress', async () => {
    receiver.state.respond = () => {};
    const ask = await start(config({ ttl: '5ms' }));
    await until(() => receiver.writes.length > 0);
    for (let count = 0; count < 20; count++) await ask('/u/1');
    equal(receiver.writes.length, 1);
  });

  it('continues counting across a reload, and only one configuration at a time writes', async () => {
    const ask = await start();
    const tags = { name: '/u/:id', status: '200' };
    await ask('/u/1');
    await until(() => counted('responses', tags) === 1);
    await gateway!.reload(config({ ttl: '50ms', buffer_size: 3 }));
    await ask('/u/1');
    await until(() => counted('responses', tags) === 2);
    const without: { extra_config: object } = config();
    await gateway!.reload({ ...without, extra_config: {} });
    await until(() => gateway!.status.draining === 0);
    const writes = receiver.writes.length;
    for (let count = 0; count < 20; count++) await ask('/u/1');
    ok(receiver.writes.length <= writes + 1);
  });

  it("never writes to the gateway's admin port", async () => {
    const { denied } = toolServices();
    denied.deny({ address: '127.0.0.1', port: receiver.port });
    const server = new InfluxServer({
      address: receiver.url,
      db: 'x',
      credentials: null,
      authorities: undefined,
      denied,
    });
    await rejects(server.write('a b=1i 1700000000\n', new AbortController().signal), /own admin port/);
    deepEqual(receiver.writes, []);
  });

  it('cancels a write if the server does not respond or its response never ends', async () => {
    const { denied } = toolServices();
    const options = { address: receiver.url, db: 'x', credentials: null, authorities: undefined, denied };
    const { signal } = new AbortController();
    receiver.state.respond = () => {};
    await rejects(new InfluxServer({ ...options, timeoutMs: 50 }).write('a b=1i 1700000000\n', signal), /[Tt]imeout/);
    receiver.state.respond = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more);
      };
      response.writeHead(200);
      more();
    };
    await rejects(new InfluxServer(options).write('a b=1i 1700000000\n', signal));
    await until(async () => (await receiver.connections()) === 0);
  });

  it('writes the sum of all workers once', async () => {
    const ask = await start(config(), { workers: { count: 2, program, args: [] } });
    for (let count = 0; count < 20; count++) await ask('/u/1');
    const tags = { name: '/u/:id', status: '200' };
    await until(() => counted('responses', tags) === 20);
    const writes = receiver.writes.length;
    await until(() => receiver.writes.length >= writes + 3);
    equal(counted('responses', tags), 20);
    equal(matching('responses', tags).at(-1)!.fields['total'], 20);
  });

  const findings = async (document: object) => {
    const registry = new Registry(catalogue, toolServices());
    const { errors, warnings } = await examine(document, {}, registry, true);
    await registry.close();
    return { errors, warnings: warnings.map(({ code, pointer, hint }) => ({ code, pointer, hint })) };
  };

  it('causes a warning and writes nothing without telemetry/metrics', async () => {
    const found = await findings(config({ ttl: '30s' }, null));
    const pointer = '/extra_config/telemetry~1influx';
    const hint = 'add "telemetry/metrics" to extra_config at the root';
    deepEqual(found, { errors: [], warnings: [{ code: 'COMPONENT_UNUSED', pointer, hint }] });
    deepEqual(await findings(config({ ttl: '30s' })), { errors: [], warnings: [] });
    const ask = await start(config({ ttl: '5ms' }, null));
    for (let count = 0; count < 20; count++) await ask('/u/1');
    deepEqual([receiver.writes, receiver.pings], [[], []]);
  });

  const good = { address: 'https://influx.test:8086', ttl: '30s' };
  for (const [what, more, code] of [
    ['an address that is not a URL', { address: 'influx:8086' }, /INFLUX_ADDRESS/],
    ['an address with a query', { address: 'http://a.test/?db=x' }, /INFLUX_ADDRESS/],
    [
      'an address with a password',
      { address: 'http://a:b@a.test' },
      /INFLUX_ADDRESS.*contains a user name or password/,
    ],
    ['an interval of 0', { ttl: '0s' }, /INFLUX_TTL/],
    ['an interval longer than a timer supports', { ttl: '600h' }, /INFLUX_TTL/],
    ['an invalid interval', { ttl: 'soon' }, /ttl/],
    ['a password without a user', { password: 'x' }, /INFLUX_CREDENTIALS/],
    ['a user name with a colon', { username: 'a:b', password: 'x' }, /INFLUX_CREDENTIALS/],
    ['an empty database name', { db: '' }, /db/],
    ['a negative buffer size', { buffer_size: -1 }, /buffer_size/],
    ['an unknown field', { token: 'x' }, /token/],
  ] as const) {
    it(`is rejected if it has ${what}`, () => rejects(openHarness(plugin, 'service', { ...good, ...more }), code));
  }

  for (const [what, more, code] of [
    ['a password without TLS', { address: 'http://a.test:8086', username: 'a', password: 'b' }, 'INFLUX_INSECURE'],
    ['an interval so short that points overwrite each other', { ttl: '500ms' }, 'INFLUX_TTL'],
  ] as const) {
    it(`causes a warning with ${what}`, async () => {
      const harness = await openHarness(plugin, 'service', { ...good, ...more });
      deepEqual(
        harness.warnings.map((warning) => warning.code),
        [code],
      );
      await harness.close();
    });
  }
});
