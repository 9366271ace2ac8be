import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { writeExposition } from '../../../admin/metrics/exposition.ts';
import { silentSinks } from '../../../kernel/contract/internal.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { eventually } from '../../support/stream-client.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('the text format of Prometheus', () => {
  const write = (labels: Record<string, string>, value = 1, help = 'Help.') =>
    writeExposition([{ name: 'm', type: 'gauge', help, samples: [{ labels, value }] }]).split('\n');

  it('puts help and type before the values', () => {
    deepEqual(write({ a: 'b' }), ['# HELP m Help.', '# TYPE m gauge', 'm{a="b"} 1', '']);
  });

  it('escapes backslashes, quotes and line breaks of labels', () => {
    equal(write({ a: 'x\\y"z\n' })[2], 'm{a="x\\\\y\\"z\\n"} 1');
  });

  it('escapes backslashes and line breaks of the help, not quotes', () => {
    equal(write({}, 1, 'a\\b\n"c"')[0], '# HELP m a\\\\b\\n"c"');
  });

  it('omits braces for a metric without labels', () => {
    equal(write({})[2], 'm 1');
  });

  it('writes infinity in the notation of Prometheus', () => {
    deepEqual([write({}, Number.POSITIVE_INFINITY)[2], write({}, Number.NEGATIVE_INFINITY)[2]], ['m +Inf', 'm -Inf']);
  });

  it('omits metrics without values', () => {
    equal(writeExposition([{ name: 'm', type: 'gauge', help: 'Help.', samples: [] }]), '');
  });
});

describe('GET /metrics', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let port: number;

  const config = (path = '/a') => ({
    version: 3,
    endpoints: [{ endpoint: path, backend: [{ host: [backend.url], url_pattern: '/' }] }],
  });
  const series = async (): Promise<Map<string, number>> => {
    const { text } = await admin.ask('/metrics');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };
  const value = async (name: string) => (await series()).get(name);

  beforeEach(async () => {
    backend = await startBackend((seen, response) =>
      json({ ok: true }, seen.target === '/' ? 200 : 500)(seen, response),
    );
    gateway = await startGateway(config());
    ({ port } = await gateway.listen());
    admin = await openReading(gateway);
  });

  afterEach(async () => {
    await admin.close();
    await gateway.close();
    await backend.close();
  });

  const call = async (path: string) => {
    await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).text();
    // Waits until the gateway has detected the end of the connection and counted the call.
    await eventually(() => gateway.status.calls === 0);
  };

  it('uses the text format', async () => {
    equal((await admin.ask('/metrics')).headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  });

  it('counts the first start, which precedes the opening of the port', async () => {
    equal(await value('gateway_config_reloads_total{result="applied",trigger="start"}'), 1);
  });

  it('counts changes by result and trigger', async () => {
    await gateway.reload(config('/b'));
    await gateway.reload(config('/b'));
    await gateway.reload({ version: 3, endpoints: 7 }).catch(() => {});
    const all = await series();
    deepEqual(
      ['applied', 'unchanged', 'failed'].map((result) =>
        all.get(`gateway_config_reloads_total{result="${result}",trigger="api"}`),
      ),
      [1, 1, 1],
    );
  });

  it('shows a failed change until one succeeds', async () => {
    await gateway.reload({ version: 3, endpoints: 7 }).catch(() => {});
    equal(await value('gateway_config_last_reload_successful'), 0);
    await gateway.reload(config('/b'));
    equal(await value('gateway_config_last_reload_successful'), 1);
  });

  it('ignores dry runs', async () => {
    await gateway.apply({ trigger: 'api', source: { version: 3, endpoints: 7 }, dryRun: true }).catch(() => {});
    const all = await series();
    equal(all.get('gateway_config_last_reload_successful'), 1);
    equal(all.get('gateway_config_reloads_total{result="failed",trigger="api"}'), undefined);
  });

  it('shows the time of the last successful change', async () => {
    const before = await value('gateway_config_last_reload_success_timestamp_seconds');
    ok(Math.abs(before! - gateway.startedAt / 1000) < 60);
    await gateway.reload({ version: 3, endpoints: 7 }).catch(() => {});
    equal(await value('gateway_config_last_reload_success_timestamp_seconds'), before);
  });

  it('shows the duration of each step of a change', async () => {
    ok((await value('gateway_config_reload_duration_seconds{phase="build"}'))! >= 0);
  });

  it('shows the active configuration', async () => {
    const { hash } = gateway.status;
    equal(await value(`gateway_config_info{revision="1",hash="${hash}"}`), 1);
  });

  it('shows the configurations in memory and the processes', async () => {
    const all = await series();
    deepEqual(
      [
        'gateway_generations{state="current"}',
        'gateway_generations{state="draining"}',
        'gateway_generations{state="leaked"}',
        'gateway_generation_requests{revision="1"}',
        'gateway_drain_aborted_total',
        'gateway_workers{state="up"}',
      ].map((name) => all.get(name)),
      [1, 0, 0, 0, 0, 1],
    );
  });

  it('shows the number of lost log lines', async () => {
    const losing = await startGateway(config(), { sinks: { ...silentSinks, lost: 7 } });
    const port = await openReading(losing);
    match((await port.ask('/metrics')).text, /^gateway_log_lines_lost_total\{worker="1"\} 7$/m);
    await port.close();
    await losing.close();
  });

  it('omits endpoints that were never called', async () => {
    equal(await value('gateway_endpoint_requests_total{method="GET",endpoint="/a"}'), undefined);
  });

  it('counts requests and failures of an endpoint', async () => {
    await gateway.reload({
      version: 3,
      endpoints: [...config().endpoints, { endpoint: '/bad', backend: [{ host: [backend.url], url_pattern: '/bad' }] }],
    });
    await call('/a');
    await call('/a');
    await call('/bad');
    const all = await series();
    deepEqual(
      ['requests', 'errors'].flatMap((what) =>
        ['/a', '/bad'].map((path) => all.get(`gateway_endpoint_${what}_total{method="GET",endpoint="${path}"}`)),
      ),
      [2, 1, 0, 1],
    );
  });

  it('counts every latency in all buckets above it', async () => {
    const { traffic } = gateway.serving.compiled.routes[0]!;
    for (const latencyMs of [0.5, 3, 3, 700, 900_000]) traffic.record(latencyMs, 200);
    const all = await series();
    const bucket = (le: string) =>
      all.get(`gateway_endpoint_duration_seconds_bucket{method="GET",endpoint="/a",le="${le}"}`);
    deepEqual(
      ['0.0004', '0.0008', '0.0016', '0.0032', '0.4096', '0.8192', '52.4288', '+Inf'].map(bucket),
      [0, 1, 1, 3, 3, 4, 4, 5],
    );
    equal(all.get('gateway_endpoint_duration_seconds_count{method="GET",endpoint="/a"}'), 5);
  });

  it('exports the exact sum of latencies', async () => {
    const { traffic } = gateway.serving.compiled.routes[0]!;
    for (const latencyMs of [0.25, 9.75, 1_000]) traffic.record(latencyMs, 200);
    equal(await value('gateway_endpoint_duration_seconds_sum{method="GET",endpoint="/a"}'), 1.01);
  });

  it('counts the responses of endpoints and backends by status class', async () => {
    const host = [backend.url];
    const failing = { host, url_pattern: '/bad' };
    const unreachable = { host: ['http://127.0.0.1:1'], url_pattern: '/gone' };
    const twice = { host, url_pattern: '/' };
    await gateway.reload({
      version: 3,
      endpoints: [{ endpoint: '/a', backend: [failing, unreachable, twice, twice] }],
    });
    await call('/a');
    await call('/a');
    const endpoint = 'method="GET",endpoint="/a"';
    const results = [...(await series())].filter(([name]) => name.includes('_responses_total'));
    deepEqual(
      new Map(results),
      new Map([
        [`gateway_endpoint_responses_total{${endpoint},status_class="2xx"}`, 2],
        [`gateway_backend_responses_total{${endpoint},backend="GET /bad",status_class="5xx"}`, 2],
        [`gateway_backend_responses_total{${endpoint},backend="GET /gone",status_class="none"}`, 2],
        [`gateway_backend_responses_total{${endpoint},backend="GET /",status_class="2xx"}`, 2],
        [`gateway_backend_responses_total{${endpoint},backend="GET /#2",status_class="2xx"}`, 2],
      ]),
    );
  });

  it('keeps the counts of a backend over a reload, and drops those of a removed backend', async () => {
    await call('/a');
    const other = { host: [backend.url], url_pattern: '/bad' };
    await gateway.reload({
      version: 3,
      endpoints: [{ endpoint: '/a', backend: [other, config().endpoints[0]!.backend[0]] }],
    });
    const name = (path: string, status: string) =>
      `gateway_backend_responses_total{method="GET",endpoint="/a",backend="GET ${path}",status_class="${status}"}`;
    await call('/a');
    deepEqual([await value(name('/', '2xx')), await value(name('/bad', '5xx'))], [2, 1]);
    await gateway.reload(config());
    await eventually(() => gateway.status.draining === 0);
    deepEqual([await value(name('/', '2xx')), await value(name('/bad', '5xx'))], [2, undefined]);
  });

  it('counts client disconnects separately', async () => {
    const silent = await startBackend(() => {});
    await gateway.reload({
      version: 3,
      endpoints: [{ endpoint: '/a', backend: [{ host: [silent.url], url_pattern: '/' }] }],
    });
    const aborting = new AbortController();
    const left = fetch(`http://127.0.0.1:${port}/a`, { signal: aborting.signal }).catch(() => {});
    await eventually(() => silent.requests.length === 1);
    aborting.abort();
    await left;
    await eventually(() => gateway.status.calls === 0);
    const labels = 'method="GET",endpoint="/a"';
    equal(await value(`gateway_endpoint_responses_total{${labels},status_class="499"}`), 1);
    equal(await value(`gateway_endpoint_errors_total{${labels}}`), 0);
    await silent.close();
  });

  it('drops the series of a removed endpoint', async () => {
    await call('/a');
    await gateway.reload(config('/b'));
    const { text } = await admin.ask('/metrics');
    equal(text.includes('endpoint="/a"'), false);
  });

  it('prints help and type once per metric', async () => {
    await call('/a');
    const { text } = await admin.ask('/metrics');
    const types = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    equal(new Set(types).size, types.length);
    match(text, /^# TYPE gateway_endpoint_duration_seconds histogram$/m);
  });
});
