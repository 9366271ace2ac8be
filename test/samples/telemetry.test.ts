import { deepEqual, equal, ok } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { freePort } from '../support/conditions.ts';
import { scrape } from '../support/prometheus.ts';
import { serveSample } from './serve.ts';

describe('the sample of telemetry', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;
  let port: number;
  let statsPort: number;

  before(async () => {
    port = await freePort();
    statsPort = await freePort();
    sample = await serveSample('telemetry', (text) =>
      text.replace('9091', String(port)).replace('8090', String(statsPort)),
    );
  });
  after(() => sample.close());

  for (const file of ['gateway.json', 'influx.json']) {
    it(`is checked without a finding: ${file}`, async () => {
      const { code, err } = await sluice('check', '-c', `samples/telemetry/${file}`);
      deepEqual([code, err], [0, '']);
    });
  }

  it('shows what was asked, but for what is skipped', async () => {
    for (const url of ['/users/1', '/users/2', '/companies/7', '/internal/1', '/nope'])
      await sample.gateway.inject(url);
    const { value, series } = await scrape(port);
    equal(value('http_server_duration', { http_route: '/users/:user', region: 'eu' }), 2);
    equal(value('http_server_duration', { http_route: '404 Not Found' }), 1);
    deepEqual(series('http_server_duration', { http_route: '/internal/:id' }), []);
    deepEqual(
      series('krakend_backend_duration').map(({ labels }) => labels['http_route']),
      ['/users/:user'],
    );
  });

  it('shows the same as counts in one object', async () => {
    await sample.gateway.inject('/users/3');
    const stats = await (await fetch(`http://127.0.0.1:${statsPort}/__stats`)).json();
    ok((stats as Record<string, number>)['krakend.router.response./users/:user.status.200.count']! >= 1);
  });
});
