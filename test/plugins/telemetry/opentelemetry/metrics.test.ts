import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { Stage } from './fixture.ts';

const user = { http_route: '/u/:id' };

describe('the metrics of telemetry/opentelemetry', () => {
  const stage = new Stage();
  beforeEach(() => stage.startBackend());
  afterEach(() => stage.close());

  it('count requests with different paths in one series, under the pattern of their endpoint', async () => {
    await stage.start();
    await stage.ask('/u/1');
    await stage.ask('/u/2');
    const { series, value } = await stage.scrape();
    const labels = { http_request_method: 'GET', url_scheme: 'http', http_response_status_code: '200' };
    equal(series('http_server_duration', user).length, 1);
    equal(value('http_server_duration', { ...user, ...labels }), 2);
    equal(value('krakend_proxy_duration', { ...user, error: 'false', canceled: 'false', complete: 'true' }), 2);
  });

  it('write path parameters in lowercase with a colon', async () => {
    await stage.start({}, { endpoints: [stage.endpoint({ endpoint: '/a/{userId}' }, { url_pattern: '/b/{userId}' })] });
    await stage.ask('/a/1');
    const { value } = await stage.scrape();
    equal(value('http_server_duration', { http_route: '/a/:userid' }), 1);
    equal(value('krakend_backend_duration', { http_route: '/b/:userid', krakend_endpoint_route: '/a/:userid' }), 1);
  });

  it('count a request without an endpoint by its status, only in the outermost layer', async () => {
    await stage.start();
    equal(await stage.ask('/nope'), 404);
    const { value, series } = await stage.scrape();
    equal(value('http_server_duration', { http_route: '404 Not Found', http_response_status_code: '404' }), 1);
    deepEqual(series('krakend_proxy_duration'), []);
  });

  it('count unknown methods in one series', async () => {
    await stage.start();
    await stage.ask('/u/1', { method: 'PURGE' });
    await stage.ask('/u/1', { method: 'LINK' });
    equal((await stage.scrape()).value('http_server_duration', { http_request_method: '_OTHER' }), 2);
  });

  it('record response sizes as sent, and sizes and durations of backend responses', async () => {
    await stage.start();
    await stage.ask('/u/1');
    const { series, value, text } = await stage.scrape();
    equal(series('http_server_response_size', user)[0]!.sum, '{"ok":true}'.length);
    const labels = { http_route: '/v1/users/:id', clientname: '/v1/users/:id', server_address: '127.0.0.1' };
    const port = new URL(stage.backend.url).port;
    equal(value('http_client_duration', { ...labels, server_port: port, http_response_status_code: '200' }), 1);
    equal(value('http_client_request_started_count_total', labels), 1);
    equal(value('http_client_request_get_conn_duration', labels), 1);
    equal(value('http_client_request_dns_duration', labels), 1);
    equal(value('http_client_response_read_size_total', labels), 11);
    equal(value('http_client_response_read_size_hist', labels), 1);
    equal(value('http_client_response_read_time_hist', labels), 1);
    match(text, /^krakend_backend_duration_bucket\{.*le="0.075"\} \d+$/m);
    match(text, /^target_info\{service_name="shop",service_version="[^"]+"\} 1$/m);
  });

  it('count responses without a length, and record the size of those with one', async () => {
    await stage.start({}, { endpoints: [stage.endpoint({ method: 'POST', output_encoding: 'no-op' })] });
    await stage.ask('/u/1', { method: 'POST', body: 'four' });
    const { value } = await stage.scrape();
    equal(value('http_client_response_no_content_length_total'), 1);
    equal(value('http_client_request_size_total', { http_response_status_code: '200' }), 4);
    await stage.close();
    await stage.startBackend((_seen, response) => response.setHeader('content-length', 2).end('{}'));
    await stage.start();
    await stage.ask('/u/1');
    equal((await stage.scrape()).series('http_client_response_size')[0]!.sum, 2);
  });

  it('count a partial response as an error and incomplete', async () => {
    await stage.start(
      {},
      {
        endpoints: [
          {
            endpoint: '/both',
            backend: [
              { host: [stage.backend.url], url_pattern: '/a' },
              { host: ['http://127.0.0.1:1'], url_pattern: '/b' },
            ],
          },
        ],
      },
    );
    equal(await stage.ask('/both'), 200);
    const { value } = await stage.scrape();
    equal(value('krakend_proxy_duration', { complete: 'false', error: 'true', canceled: 'false' }), 1);
    equal(value('krakend_backend_duration', { http_route: '/b', error: 'true' }), 1);
    equal(value('http_client_request_failed_count_total', { http_route: '/b' }), 1);
    equal(value('http_client_duration', { http_route: '/b', http_response_status_code: '0' }), 1);
    equal(value('http_client_request_canceled_count_total'), 0);
  });

  it('count a timeout as an error and a timeout', async () => {
    await stage.close();
    await stage.startBackend(() => {});
    await stage.start({}, { endpoints: [stage.endpoint({ timeout: '30ms' })] });
    equal(await stage.ask('/u/1'), 500);
    const { value } = await stage.scrape();
    equal(value('http_client_request_timedout_count_total'), 1);
    equal(value('http_client_request_failed_count_total'), 1);
    equal(value('krakend_proxy_duration', { error: 'true', canceled: 'false' }), 1);
  });

  it('count a disconnected client as canceled and not as an error', async () => {
    await stage.close();
    const leaving = new AbortController();
    await stage.startBackend(() => leaving.abort());
    await stage.start();
    await stage.ask('/u/1', { signal: leaving.signal }).catch(() => {});
    await until(async () => (await stage.scrape()).value('http_server_duration') === 1);
    const { value } = await stage.scrape();
    equal(value('http_server_duration', { http_response_status_code: '499' }), 1);
    equal(value('http_client_request_canceled_count_total'), 1);
    equal(value('http_client_request_failed_count_total'), 0);
    equal(value('krakend_proxy_duration', { error: 'false', canceled: 'true' }), 1);
  });

  it('count an incomplete body as a read error', async () => {
    await stage.close();
    await stage.startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('{');
      setImmediate(() => response.destroy());
    });
    await stage.start();
    equal(await stage.ask('/u/1'), 500);
    equal((await stage.scrape()).value('http_client_response_read_errors_total', { error: 'true' }), 1);
  });

  it('of backends include only the stage if their settings are an empty object', async () => {
    await stage.start({ layers: { backend: { metrics: {} } } });
    await stage.ask('/u/1');
    const { value, series } = await stage.scrape();
    equal(value('krakend_backend_duration'), 1);
    deepEqual(series('http_client_duration'), []);
    deepEqual(series('http_client_request_get_conn_duration'), []);
  });

  for (const [what, switches, measured, detailed] of [
    ['round_trip', { round_trip: true }, true, false],
    ['read_payload', { read_payload: true }, true, false],
    ['only detailed_connection', { detailed_connection: true }, false, false],
    ['round_trip with details', { round_trip: true, detailed_connection: true }, true, true],
    ['round_trip without the stage', { round_trip: true, disable_stage: true }, true, false],
  ] as const) {
    it(`of backend requests with ${what} are ${measured ? 'recorded' : 'not recorded'}`, async () => {
      await stage.start({ layers: { backend: { metrics: switches } } });
      await stage.ask('/u/1');
      const { value, series } = await stage.scrape();
      equal(value('http_client_duration'), measured ? 1 : 0);
      equal(value('http_client_response_read_size_hist'), measured ? 1 : 0);
      equal(value('http_client_request_get_conn_duration'), detailed ? 1 : 0);
      equal(series('krakend_backend_duration').length, 'disable_stage' in switches ? 0 : 1);
    });
  }

  it('have the names of the semantic conventions 1.27 if configured', async () => {
    await stage.start({ layers: { global: { semantic_convention: '1.27' } } });
    await stage.ask('/u/1');
    const { value } = await stage.scrape();
    for (const name of [
      'http_server_request_duration',
      'http_server_response_body_size',
      'http_client_request_duration',
      'http_client_request_started_count_total',
      'krakend_proxy_duration',
    ]) {
      equal(value(name), 1, name);
    }
    equal(value('http_server_duration'), 0);
  });

  it('with the names of 1.27 record outcomes only in the detailed metrics', async () => {
    const metrics = { round_trip: true };
    await stage.start({ layers: { global: { semantic_convention: '1.27' }, backend: { metrics } } });
    await stage.ask('/u/1');
    deepEqual((await stage.scrape()).series('http_client_request_started_count_total'), []);
  });

  it('are omitted for disabled layers', async () => {
    await stage.start({ layers: { global: { disable_metrics: true }, proxy: { disable_metrics: true } } });
    await stage.ask('/u/1');
    const { series, value } = await stage.scrape();
    deepEqual(series('http_server_duration'), []);
    deepEqual(series('krakend_proxy_duration'), []);
    equal(value('krakend_backend_duration'), 1);
  });

  it('have the configured attributes of their layer; empty ones are dropped and built-in ones are kept', async () => {
    const list = [
      { key: 'team', value: 'a' },
      { key: '', value: 'x' },
      { key: 'empty', value: '' },
      { key: 'http.route', value: 'mine' },
      { key: '__proto__', value: 'p' },
    ];
    await stage.start({ layers: { global: { metrics_static_attributes: list } } });
    await stage.ask('/u/1');
    const [series] = (await stage.scrape()).series('http_server_duration', { team: 'a' });
    equal(series!.labels['http_route'], '/u/:id');
    equal('empty' in series!.labels, false);
  });

  it("of an endpoint replace the root's settings of a layer as a whole", async () => {
    const extra = {
      proxy: { report_headers: true },
      global: { metrics_static_attributes: [{ key: 'own', value: 'yes' }] },
    };
    await stage.start(
      { layers: { proxy: { metrics_static_attributes: [{ key: 'team', value: 'a' }] } } },
      {
        endpoints: [
          stage.endpoint(),
          stage.endpoint(
            { endpoint: '/own', extra_config: { 'telemetry/opentelemetry': extra } },
            { url_pattern: '/x' },
          ),
        ],
      },
    );
    await stage.ask('/u/1');
    await stage.ask('/own');
    const { series } = await stage.scrape();
    equal(series('krakend_proxy_duration', user)[0]!.labels['team'], 'a');
    equal(series('krakend_proxy_duration', { http_route: '/own' })[0]!.labels['team'], undefined);
    equal(series('http_server_duration', { http_route: '/own' })[0]!.labels['own'], 'yes');
  });

  it('of a backend use the settings of the backend, the endpoint or the root, in that order', async () => {
    const only = (metrics: object) => ({ 'telemetry/opentelemetry': { backend: { metrics } } });
    await stage.start(
      { layers: { backend: { metrics: {} } } },
      {
        endpoints: [
          stage.endpoint({ endpoint: '/service' }, { url_pattern: '/service' }),
          stage.endpoint(
            { endpoint: '/endpoint', extra_config: only({ round_trip: true, detailed_connection: true }) },
            { url_pattern: '/endpoint' },
          ),
          stage.endpoint(
            { endpoint: '/backend', extra_config: only({ round_trip: true }) },
            { url_pattern: '/backend', extra_config: only({ disable_stage: true }) },
          ),
          stage.endpoint(
            { endpoint: '/all' },
            { url_pattern: '/all', extra_config: { 'telemetry/opentelemetry': { backend: {} } } },
          ),
        ],
      },
    );
    for (const path of ['/service', '/endpoint', '/backend', '/all']) await stage.ask(path);
    const { series } = await stage.scrape();
    const routes = (name: string) => series(name).map(({ labels }) => labels['http_route']);
    deepEqual(routes('krakend_backend_duration').sort(), ['/all', '/endpoint', '/service']);
    deepEqual(routes('http_client_duration').sort(), ['/all', '/endpoint']);
    deepEqual(routes('http_client_request_get_conn_duration').sort(), ['/all', '/endpoint']);
  });

  it('exclude endpoints whose patterns are skipped, regardless of parameter names', async () => {
    await stage.start(
      { skip_paths: ['/foo/{bar}', '/b/:x'] },
      {
        endpoints: [
          stage.endpoint({ endpoint: '/foo/{bar}' }, { url_pattern: '/' }),
          stage.endpoint({ endpoint: '/b/{X}' }, { url_pattern: '/' }),
        ],
      },
    );
    equal(await stage.ask('/foo/1'), 200);
    equal(await stage.ask('/b/1'), 200);
    deepEqual([...(await stage.scrape()).types.keys()], ['target_info']);
  });

  it("exclude the gateway's own paths unless skip_paths is empty", async () => {
    await stage.start();
    await stage.ask('/__health');
    deepEqual((await stage.scrape()).series('http_server_duration'), []);
    await stage.gateway.reload(stage.config({ skip_paths: [''] }));
    await stage.ask('/__health');
    equal((await stage.scrape()).value('http_server_duration', { http_response_status_code: '200' }), 1);
  });

  it('exclude everything below a skipped path that ends in a slash', async () => {
    await stage.start({ skip_paths: ['/internal/'] });
    await stage.ask('/internal/a');
    deepEqual((await stage.scrape()).series('http_server_duration'), []);
  });

  it('have the configured bucket boundaries', async () => {
    await stage.start({ histograms: { time_buckets: [0.5, 1], size_buckets: [8] } });
    await stage.ask('/u/1');
    const { series } = await stage.scrape();
    deepEqual(new Set(Object.keys(series('http_server_duration')[0]!.buckets)), new Set(['0.5', '1', '+Inf']));
    deepEqual(series('http_server_response_size')[0]!.buckets, { '8': 0, '+Inf': 1 });
  });

  it('continue after a reload that does not change the exporters', async () => {
    await stage.start();
    await stage.ask('/u/1');
    await stage.gateway.reload(stage.config({}, { timeout: '3s' }));
    await stage.ask('/u/1');
    equal((await stage.scrape()).value('http_server_duration'), 2);
  });

  it('of an endpoint continue if another endpoint or its file changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'otel-'));
    const file = join(folder, 'script.lua');
    const write = (version: number) => writeFileSync(file, `local version = ${version}`);
    const scripted = { 'modifier/lua-proxy': { sources: [file], pre: 'local a = 1' } };
    const endpoints = (timeout: string) => [
      stage.endpoint({ endpoint: '/u/{id}', timeout }),
      stage.endpoint({ endpoint: '/scripted', extra_config: scripted }, { url_pattern: '/x' }),
      stage.endpoint({ endpoint: '/plain' }, { url_pattern: '/x' }),
    ];
    try {
      write(1);
      await stage.start({}, { endpoints: endpoints('5s') });
      for (const [version, timeout] of [
        [1, '5s'],
        [1, '6s'],
        [2, '6s'],
      ] as const) {
        write(version);
        await stage.gateway.reload(stage.config({}, { endpoints: endpoints(timeout) }));
        for (const path of ['/u/1', '/scripted', '/plain']) equal(await stage.ask(path), 200);
      }
      const { value } = await stage.scrape();
      for (const route of ['/u/:id', '/scripted', '/plain']) {
        equal(value('http_server_duration', { http_route: route }), 3, route);
        equal(value('krakend_proxy_duration', { http_route: route }), 3, route);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('of an endpoint that a reload adds are sent to its own exporters', async () => {
    const other = await stage.httpReceiver();
    const exporters = {
      otlp: [{ name: 'other', host: '127.0.0.1', port: other.port, use_http: true, disable_metrics: true }],
    };
    await stage.start({ exporters }, { endpoints: [stage.endpoint()] });
    const named = { exporters_override: { metric_exporters: ['other'], metric_reporting_period: 1 } };
    const own = { endpoint: '/own', extra_config: { 'telemetry/opentelemetry': named } };
    const endpoints = [stage.endpoint(), stage.endpoint(own, { url_pattern: '/x' })];
    await stage.gateway.reload(stage.config({ exporters }, { endpoints }));
    await stage.ask('/own');
    await until(() => other.last('http.server.duration') !== undefined);
    equal((await stage.scrape()).value('http_server_duration', { http_route: '/own' }), 0);
  });

  it('of an endpoint go only to the exporters that it names', async () => {
    const other = await stage.httpReceiver();
    const named = { exporters_override: { metric_exporters: ['other'], metric_reporting_period: 1 } };
    await stage.start(
      {
        exporters: {
          otlp: [{ name: 'other', host: '127.0.0.1', port: other.port, use_http: true, disable_metrics: true }],
        },
      },
      {
        endpoints: [
          stage.endpoint(),
          stage.endpoint(
            { endpoint: '/own', extra_config: { 'telemetry/opentelemetry': named } },
            { url_pattern: '/x' },
          ),
        ],
      },
    );
    await stage.ask('/u/1');
    await stage.ask('/own');
    await until(() => other.last('http.server.duration') !== undefined);
    const { series } = await stage.scrape();
    deepEqual(
      series('http_server_duration').map(({ labels }) => labels['http_route']),
      ['/u/:id'],
    );
    ok(other.points.every(({ attributes }) => attributes['http.route'] !== '/u/:id'));
  });

  it('of no-op responses are complete', async () => {
    await stage.start({}, { endpoints: [stage.endpoint({ output_encoding: 'no-op' })] });
    await stage.ask('/u/1');
    equal((await stage.scrape()).value('krakend_proxy_duration', { complete: 'true', error: 'false' }), 1);
  });

  it('count a request rejected before the proxy in the outermost layer', async () => {
    const extra = { 'qos/ratelimit/router': { max_rate: 0.001, capacity: 1 } };
    await stage.start({}, { endpoints: [stage.endpoint({ extra_config: extra })] });
    await stage.ask('/u/1');
    equal(await stage.ask('/u/1'), 503);
    const { value } = await stage.scrape();
    equal(value('http_server_duration', { ...user, http_response_status_code: '503' }), 1);
    equal(value('krakend_proxy_duration'), 1);
  });

  it('of responses without a body have no size', async () => {
    await stage.close();
    await stage.startBackend(json({ ok: true }, 204));
    await stage.start({}, { endpoints: [stage.endpoint({ output_encoding: 'no-op' })] });
    equal(await stage.ask('/u/1'), 204);
    const { value } = await stage.scrape();
    equal(value('http_client_response_size'), 0);
    equal(value('http_client_response_no_content_length_total'), 0);
    equal(value('http_client_response_read_size_hist'), 0);
  });
});
