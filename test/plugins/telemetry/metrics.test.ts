import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { EXPOSITION_TYPE } from '../../../plugins/telemetry/lib/metrics/prometheus.ts';
import { plugin } from '../../../plugins/telemetry/metrics/index.ts';
import { Sample, summaryOf } from '../../../plugins/telemetry/metrics/sample.ts';
import { Stats } from '../../../plugins/telemetry/metrics/stats.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { bundledProgram } from '../../support/programs.ts';
import { scrape } from '../../support/prometheus.ts';

const program = bundledProgram();

describe('telemetry/metrics', function () {
  this.timeout(180_000);
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let port: number;
  let url: string;
  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    port = await freePort();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await backend.close();
  });

  const endpoint = (path: string, more: object = {}) => ({
    endpoint: path,
    backend: [{ host: [backend.url], url_pattern: '/b' }],
    ...more,
  });
  const config = (metrics: object = {}, root: Readonly<Record<string, unknown>> = {}) => ({
    version: 3,
    endpoints: [endpoint('/a'), endpoint('/u/{Id}')],
    ...root,
    extra_config: {
      'telemetry/metrics': { listen_address: `127.0.0.1:${port}`, ...metrics },
      ...(root['extra_config'] as object),
    },
  });
  const start = async (metrics?: object, root?: Readonly<Record<string, unknown>>, options?: object) => {
    gateway = await startGateway(config(metrics, root), options);
    const address = await gateway.listen();
    url = `http://127.0.0.1:${address.port}`;
  };
  const ask = async (path: string) => (await fetch(url + path, { headers: { connection: 'close' } })).text();
  const page = async (): Promise<Record<string, number>> =>
    (await fetch(`http://127.0.0.1:${port}/__stats`)).json() as Promise<Record<string, number>>;
  const pipe = (name: string, complete: boolean, error: boolean, layer = 'pipe') =>
    `krakend.proxy.requests.layer.${layer}.name.${name}.complete.${complete}.error.${error}`;

  it('exposes sorted keys whose values start at 0', async () => {
    await start();
    const stats = await page();
    equal(stats['krakend.router.connected'], 0);
    equal(stats['krakend.router.connected-total'], 0);
    equal(stats['krakend.router.response./a.status'], 0);
    for (const complete of [true, false]) {
      for (const error of [true, false]) equal(stats[pipe('/a', complete, error)], 0);
    }
    const keys = Object.keys(stats);
    deepEqual(keys, keys.toSorted());
    ok(Array.isArray(stats['cmdline']) && typeof stats['memstats'] === 'object');
  });

  it('counts the responses of an endpoint, of its proxy layer and of its backends', async () => {
    await start();
    for (let count = 0; count < 3; count++) await ask('/a');
    await ask('/u/7');
    await ask('/nope');
    const stats = await page();
    equal(stats['krakend.router.response./a.status.200.count'], 3);
    equal(stats['krakend.router.response./u/:id.status.200.count'], 1);
    equal(stats[pipe('/a', true, false)], 3);
    equal(stats[pipe('/b', true, false, 'backend')], 4);
    equal(stats['krakend.router.response./a.size.max'], 11);
    equal(stats['krakend.router.response./a.time.count'], 3);
    ok(stats['krakend.router.response./a.time.min']! > 1000);
    equal(stats['krakend.router.connected'], 4);
    equal(stats['krakend.router.disconnected'], 4);
  });

  it('counts a partial response as an error and incomplete', async () => {
    const hosts = [backend.url, 'http://127.0.0.1:1'];
    const both = { endpoint: '/both', backend: hosts.map((host) => ({ host: [host], url_pattern: '/x' })) };
    await start({}, { endpoints: [both] });
    await ask('/both');
    equal((await page())[pipe('/both', false, true)], 1);
  });

  for (const [field, missing] of [
    ['router_disabled', 'krakend.router.response.'],
    ['proxy_disabled', 'krakend.proxy.requests.layer.pipe'],
    ['backend_disabled', 'krakend.proxy.requests.layer.backend'],
  ] as const) {
    it(`records nothing with ${field}`, async () => {
      await start({ [field]: true });
      await ask('/a');
      const stats = await page();
      deepEqual(
        Object.keys(stats).filter((key) => key.startsWith(missing)),
        [],
      );
      equal(stats['krakend.router.connected'], field === 'router_disabled' ? 0 : 1);
    });
  }

  it('summarizes each window at its end, and samples process values', async () => {
    await start({ collection_time: '300ms' });
    await ask('/a');
    await ask('/a');
    await until(async () => (await page())['krakend.router.connected-total'] === 2);
    const stats = await page();
    equal(stats['krakend.router.connected'], 0);
    equal(stats['krakend.router.disconnected-total'], 2);
    for (const name of ['service.runtime.MemStats.HeapAlloc', 'service.runtime.NumGoroutine']) {
      ok(stats[`krakend.${name}`]! > 0, name);
    }
    ok('krakend.service.runtime.EventLoopLag.max' in stats);
  });

  it('serves one path with GET only', async () => {
    await start();
    const status = async (path: string, method = 'GET') =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: 'manual' })).status;
    deepEqual(
      [await status('/__stats'), await status('/__stats/'), await status('/__stats', 'POST'), await status('/metrics')],
      [200, 301, 405, 404],
    );
  });

  it('logs the URL of the metrics page', async () => {
    const sinks = rememberingSinks();
    await start({}, { extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } } }, { sinks });
    match(
      sinks.lines.join(''),
      new RegExp(`\\[SERVICE: Stats\\] The endpoint /__stats is now available on .*:${port}`),
    );
  });

  it('opens no port with endpoint_disabled', async () => {
    await start({ endpoint_disabled: true });
    await rejects(page());
  });

  it('keeps the counts of remaining endpoints across a reload, and drops removed ones', async () => {
    await start();
    await ask('/a');
    await ask('/u/1');
    await gateway!.reload(config({}, { endpoints: [endpoint('/a', { timeout: '3s' })] }));
    await ask('/a');
    const stats = await page();
    equal(stats['krakend.router.response./a.status.200.count'], 2);
    deepEqual(
      Object.keys(stats).filter((key) => key.includes('/u/:id')),
      [],
    );
  });

  it('exposes nothing of a rejected configuration', async () => {
    await start();
    await rejects(gateway!.reload(config({}, { endpoints: [endpoint('/new'), endpoint('/new')] })));
    await gateway!.apply({ trigger: 'api', source: config({}, { endpoints: [endpoint('/new')] }), dryRun: true });
    equal(
      Object.keys(await page()).some((key) => key.includes('/new')),
      false,
    );
  });

  it('opens a new port before it closes the old one', async () => {
    await start();
    await ask('/a');
    const before = port;
    port = await freePort();
    await gateway!.reload(config());
    equal((await page())['krakend.router.response./a.status.200.count'], 1);
    await until(() =>
      fetch(`http://127.0.0.1:${before}/__stats`).then(
        () => false,
        () => true,
      ),
    );
  });

  it('fails to start and to reload if the port is in use', async () => {
    await start();
    const good = port;
    port = Number(new URL(backend.url).port);
    const refused = new RegExp(`LISTENER_BIND.*cannot listen on 127\\.0\\.0\\.1:${port}: address already in use`);
    await rejects(gateway!.reload(config()), refused);
    await rejects(startGateway(config()), refused);
    port = good;
    equal((await page())['krakend.router.connected'], 0);
  });

  it('exposes the same metrics for Prometheus', async () => {
    await start();
    for (let count = 0; count < 3; count++) await ask('/a');
    await ask('/u/7');
    const stats = await scrape(port, '/__stats?format=prometheus');
    match(stats.contentType, /^text\/plain; version=0\.0\.4/);
    const labels = { endpoint: '/a', status: '200' };
    equal(stats.value('krakend_router_responses_total', labels), 3);
    equal(stats.types.get('krakend_router_responses_total'), 'counter');
    const backendLabels = { layer: 'backend', name: '/b', complete: 'true', error: 'false' };
    equal(stats.value('krakend_proxy_requests_total', backendLabels), 4);
    equal(stats.types.get('krakend_proxy_latency_seconds'), 'summary');
    equal(stats.value('krakend_proxy_latency_seconds_count', backendLabels), 4);
    const [median] = stats.series('krakend_proxy_latency_seconds', { ...backendLabels, quantile: '0.5' });
    ok(median!.value > 0 && median!.value < 10);
    equal(stats.value('krakend_router_connected'), 4);
    equal(stats.value('krakend_router_connected_total'), 0);
    equal(stats.value('krakend_router_response_size_bytes', { endpoint: '/u/:id', quantile: '0.99' }), 11);
    equal((await fetch(`http://127.0.0.1:${port}/__stats?format=xml`)).status, 400);
    equal(
      (await fetch(`http://127.0.0.1:${port}/__stats/?format=prometheus`)).headers.get('content-type'),
      EXPOSITION_TYPE,
    );
  });

  it('counts TLS versions and ciphers of clients', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const { certificate, privateKey, certificatePem } = certificates.issue('server', authority);
    await start({}, { tls: { keys: [{ public_key: certificate, private_key: privateKey }] } });
    ok(certificatePem);
    const { get } = await import('node:https');
    await new Promise<void>((resolve, reject) => {
      get(`${url.replace('http', 'https')}/a`, { ca: authority.certificatePem, agent: false }, (response) => {
        response.resume().on('end', () => resolve());
      }).on('error', reject);
    });
    const stats = await page();
    equal(stats['krakend.router.tls_version.VersionTLS13.count'], 1);
    const ciphers = Object.keys(stats).filter((key) => key.startsWith('krakend.router.tls_cipher.TLS_'));
    equal(ciphers.length, 1);
    certificates.remove();
  });

  it('exposes the sum of all workers once', async () => {
    await start({}, {}, { workers: { count: 2, program, args: [] } });
    for (let count = 0; count < 30; count++) await ask('/a');
    await until(async () => (await page())['krakend.router.response./a.status.200.count'] === 30);
    const stats = await page();
    equal(stats['krakend.router.response./a.time.count'], 30);
    equal(stats[pipe('/a', true, false)], 30);
  });

  for (const [what, metrics] of [
    ['an invalid window', { collection_time: 'soon' }],
    ['a window of 0', { collection_time: '0s' }],
    ['an address without a port', { listen_address: '127.0.0.1' }],
    ['an invalid port', { listen_address: ':70000' }],
    ['a non-boolean switch', { router_disabled: 'yes' }],
    ['an unknown field', { window: '1s' }],
  ] as const) {
    it(`is rejected if it has ${what}`, () => rejects(openHarness(plugin, 'service', metrics)));
  }
});

describe('a sample of values', () => {
  it('contains a limited number of values, but counts all', () => {
    const sample = new Sample();
    for (let value = 0; value < 100_000; value++) sample.add(value);
    equal(sample.values.length, 1028);
    const summary = summaryOf(sample);
    equal(summary['count'], 100_000);
    ok(Math.abs(summary['mean']! - 50_000) < 6000, `${summary['mean']}`);
    ok(summary['99-percentile']! > 95_000);
  });

  it('is summarized from the recorded values', () => {
    const sample = new Sample();
    for (const value of [4, 1, 3, 2]) sample.add(value);
    const summary = summaryOf(sample);
    deepEqual([summary['min'], summary['max'], summary['mean'], summary['50-percentile']], [1, 4, 2.5, 2.5]);
    ok(Math.abs(summary['std-dev']! - Math.sqrt(1.25)) < 1e-9);
    equal(summaryOf(new Sample())['max'], 0);
  });

  it('is one of a limited number of samples, whose names can have any form', () => {
    const stats = new Stats();
    for (let name = 0; name < 60_000; name++) {
      stats.counter(`c${name}`).value += 1;
      stats.sample(`s${name}`).add(1);
    }
    stats.counter('__proto__').value += 1;
    const all = [...stats.entries()];
    equal(all.length, 54_000);
  });
});
