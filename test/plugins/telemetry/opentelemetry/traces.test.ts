import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { rememberingSinks } from '../../../support/gateway.ts';
import type { ReceivedSpan, Receiver } from '../../../support/otlp.ts';
import { Stage } from './fixture.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parent}-01`;

describe('the traces of telemetry/opentelemetry', () => {
  const stage = new Stage();
  let receiver: Receiver;
  beforeEach(async () => {
    await stage.startBackend();
    receiver = await stage.httpReceiver();
  });
  afterEach(async () => {
    await stage.close();
    delete process.env['OTEL_PROPAGATORS'];
  });

  const start = (more: Record<string, unknown> = {}, root?: Record<string, unknown>, options?: object) =>
    stage.start(
      {
        exporters: {
          prometheus: [],
          otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true }],
        },
        ...more,
      },
      root,
      options,
    );
  const spans = async (count: number): Promise<readonly ReceivedSpan[]> => {
    await until(() => receiver.spans.length >= count);
    return receiver.spans;
  };
  const stageOf = (all: readonly ReceivedSpan[], name: string) =>
    all.find(({ attributes }) => attributes['krakend.stage'] === name)!;
  const sentHeaders = () => stage.backend.requests.at(-1)!.headers;

  it('contain spans of all layers, each within its parent', async () => {
    await start();
    await stage.ask('/u/1?token=s3cret', { headers: { traceparent, 'User-Agent': 'curl' } });
    const all = await spans(5);
    const [global, proxy, backend, client] = ['global', 'proxy', 'backend', 'backend-request'].map((name) =>
      stageOf(all, name),
    ) as [ReceivedSpan, ReceivedSpan, ReceivedSpan, ReceivedSpan];
    const read = all.find(({ name }) => name === 'http.client.response.read.tracker')!;
    ok(all.every((span) => span.traceId === traceId && span.start <= span.end));
    deepEqual(
      [global, proxy, backend, client, read].map(({ parentSpanId }) => parentSpanId),
      [parent, global.spanId, proxy.spanId, backend.spanId, client.spanId],
    );
    deepEqual([global.kind, global.name], ['SPAN_KIND_SERVER', 'GET /u/:id']);
    deepEqual([proxy.kind, proxy.name], ['SPAN_KIND_INTERNAL', '/u/:id']);
    deepEqual([client.kind, client.name, backend.name], ['SPAN_KIND_CLIENT', '/v1/users/:id', '/v1/users/:id']);
    const { 'url.full': url, ...attributes } = global.attributes;
    match(String(url), /^http:\/\/127\.0\.0\.1:\d+\/u\/1\?token=\*\*\*$/);
    deepEqual(attributes, {
      'krakend.stage': 'global',
      'server.address': '127.0.0.1',
      'http.request.method': 'GET',
      'client.address': '127.0.0.1',
      'http.route': '/u/:id',
      'http.response.status_code': 200,
      'user_agent.original': 'curl',
      'http.response.body.size': 11,
    });
    deepEqual(proxy.attributes, { 'krakend.stage': 'proxy', complete: true, 'http.response.status_code': 200 });
    for (const name of ['response-duration', 'get-conn-duration', 'dns-duration', 'tls-duration']) {
      equal(typeof client.attributes[name], 'number', name);
    }
    deepEqual(
      client.events.map(({ name }) => name),
      ['first-byte-time'],
    );
    equal(read.attributes['http.client.response.read.size'], 11);
    deepEqual([global.status.code, client.status.code], ['STATUS_CODE_OK', 'STATUS_CODE_OK']);
    deepEqual(global.resource, { 'service.name': 'shop', 'service.version': global.resource['service.version'] });
  });

  it('propagate the client span to backends, in the trace of the request', async () => {
    await start();
    await stage.ask('/u/1', { headers: { traceparent, tracestate: 'a=1', baggage: 'user=ada' } });
    const client = stageOf(await spans(5), 'backend-request');
    equal(sentHeaders()['traceparent'], `00-${traceId}-${client.spanId}-01`);
    equal(sentHeaders()['tracestate'], 'a=1');
    equal(sentHeaders()['baggage'], 'user=ada');
    equal(client.traceState, 'a=1');
  });

  it("begin anew for every request if the client's trace is not trusted", async () => {
    await start({ layers: { global: { disable_propagation: true } } });
    await stage.ask('/u/1', { headers: { traceparent, baggage: 'a=b' } });
    const [first] = await spans(5);
    notEqual(first!.traceId, traceId);
    match(sentHeaders()['traceparent'] as string, new RegExp(`^00-${first!.traceId}-`));
    equal(sentHeaders()['baggage'], undefined);
  });

  for (const header of [
    'x',
    `00-${traceId}-${parent}`,
    `ff-${traceId}-${parent}-01`,
    `00-${traceId}-${parent}-01-more`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parent}-01`,
  ]) {
    it(`begin anew for an invalid header: ${header}`, async () => {
      await start();
      await stage.ask('/u/1', { headers: { traceparent: header } });
      const all = await spans(5);
      notEqual(all[0]!.traceId, traceId);
      equal(stageOf(all, 'global').parentSpanId, '');
    });
  }

  it('use B3 headers if the environment selects them', async () => {
    process.env['OTEL_PROPAGATORS'] = 'b3multi, b3';
    await start();
    await stage.ask('/u/1', { headers: { 'X-B3-TraceId': traceId, 'X-B3-SpanId': parent, 'X-B3-Sampled': '1' } });
    const client = stageOf(await spans(5), 'backend-request');
    equal(client.traceId, traceId);
    const { b3, traceparent: w3c, ...sent } = sentHeaders();
    deepEqual([b3, w3c], [`${traceId}-${client.spanId}-1`, undefined]);
    deepEqual([sent['x-b3-traceid'], sent['x-b3-spanid'], sent['x-b3-sampled']], [traceId, client.spanId, '1']);
  });

  it('are recorded at the configured sample rate', async () => {
    await start({ trace_sample_rate: 0.5 });
    for (let count = 0; count < 200; count++) await stage.ask('/u/1');
    await stage.gateway.close();
    const traces = new Set(receiver.spans.map((span) => span.traceId)).size;
    ok(traces > 60 && traces < 140, `${traces} of 200`);
  });

  for (const [flag, recorded] of [
    ['01', true],
    ['00', false],
  ] as const) {
    it(`with a partial sample rate are ${recorded ? 'recorded' : 'not recorded'} according to the caller's decision`, async () => {
      await start({ trace_sample_rate: recorded ? 0.000001 : 0.999999 });
      await stage.ask('/u/1', { headers: { traceparent: `00-${traceId}-${parent}-${flag}` } });
      match(sentHeaders()['traceparent'] as string, new RegExp(`^00-${traceId}-[\\da-f]{16}-${flag}$`));
      await stage.gateway.close();
      equal(receiver.spans.length, recorded ? 5 : 0);
    });
  }

  it('that are not recorded are propagated to backends as not sampled', async () => {
    await start({ trace_sample_rate: 0 });
    await stage.ask('/u/1');
    match(sentHeaders()['traceparent'] as string, /^00-[\da-f]{32}-[\da-f]{16}-00$/);
    await stage.gateway.close();
    equal(receiver.spans.length, 0);
  });

  it('of an endpoint use its own sample rate and exporters', async () => {
    const other = await stage.grpcReceiver();
    const named = { exporters_override: { trace_exporters: ['other'], trace_sample_rate: 1 } };
    await stage.start(
      {
        trace_sample_rate: 0,
        exporters: {
          prometheus: [],
          otlp: [
            { name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true },
            { name: 'other', host: '127.0.0.1', port: other.port, disable_metrics: true, disable_traces: true },
          ],
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
    await until(() => other.spans.length === 5);
    equal(receiver.spans.length, 0);
    equal(stageOf(other.spans, 'global').attributes['http.route'], '/own');
  });

  it('contain the error of a failure', async () => {
    await start({}, { endpoints: [stage.endpoint({}, { host: ['http://127.0.0.1:1'] })] });
    equal(await stage.ask('/u/1'), 500);
    const all = await spans(4);
    const proxy = stageOf(all, 'proxy');
    deepEqual([proxy.attributes['complete'], proxy.attributes['http.response.status_code']], [false, 500]);
    match(String(proxy.attributes['error']), /connection refused/);
    const client = stageOf(all, 'backend-request');
    deepEqual([client.status.code, client.attributes['http.response.status_code']], ['STATUS_CODE_ERROR', 0]);
  });

  it('contain headers if configured, except credentials and skipped ones', async () => {
    await start({ layers: { global: { report_headers: true, skip_headers: ['X-SECRET'] } } });
    const headers = { 'X-One': 'a', 'X-Secret': 'b', Authorization: 'Bearer c', Cookie: 'd=e' };
    await stage.ask('/u/1', { headers });
    const { attributes } = stageOf(await spans(5), 'global');
    deepEqual(attributes['http.request.header.x-one'], ['a']);
    deepEqual(attributes['http.response.header.content-type'], ['application/json; charset=utf-8']);
    const names = Object.keys(attributes);
    for (const left of ['x-secret', 'authorization', 'cookie'])
      ok(!names.includes(`http.request.header.${left}`), left);
  });

  it('contain limited parts of the URL and headers of a long request', async () => {
    await start({ layers: { global: { report_headers: true } } });
    const long = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`X-${at}`, 'v'.repeat(1500)]));
    await stage.ask(`/u/1?${'q'.repeat(10_000)}`, { headers: { ...long, 'User-Agent': 'u'.repeat(5000) } });
    const { attributes } = stageOf(await spans(5), 'global');
    equal(String(attributes['url.full']).length, 2048);
    equal(String(attributes['user_agent.original']).length, 2048);
    ok(JSON.stringify(attributes).length < 16_000);
  });

  it('have the configured attributes of their layer', async () => {
    const list = [{ key: 'team', value: 'a' }];
    await start({
      layers: {
        global: { traces_static_attributes: list },
        backend: { traces: { round_trip: true, static_attributes: list } },
      },
    });
    await stage.ask('/u/1');
    const all = await spans(4);
    deepEqual(
      ['global', 'proxy', 'backend', 'backend-request'].map((name) => stageOf(all, name).attributes['team']),
      ['a', undefined, 'a', 'a'],
    );
  });

  it("omit disabled layers, whose children become children of the caller's span", async () => {
    const layers = {
      global: { disable_traces: true },
      proxy: { disable_traces: true },
      backend: { traces: { disable_stage: true, read_payload: true } },
    };
    await start({ layers });
    await stage.ask('/u/1', { headers: { traceparent } });
    const all = await spans(1);
    deepEqual(
      all.map(({ name, parentSpanId }) => [name, parentSpanId]),
      [['http.client.response.read.tracker', parent]],
    );
    equal(sentHeaders()['traceparent'], `00-${traceId}-${parent}-01`);
  });

  it('have no span for unmatched and skipped requests', async () => {
    await start({ skip_paths: ['/u/{id}', '/__health'] });
    for (const path of ['/nope', '/u/1', '/__health']) await stage.ask(path);
    await stage.gateway.close();
    deepEqual(receiver.spans, []);
  });

  it('contain a request that is rejected before the proxy', async () => {
    const extra = { 'qos/ratelimit/router': { max_rate: 0.001, capacity: 1 } };
    await start({ trace_sample_rate: 1 }, { endpoints: [stage.endpoint({ extra_config: extra })] });
    await stage.ask('/u/1');
    equal(await stage.ask('/u/1'), 503);
    const all = await spans(6);
    deepEqual(
      all
        .filter(({ kind }) => kind === 'SPAN_KIND_SERVER')
        .map(({ attributes }) => attributes['http.response.status_code']),
      [200, 503],
    );
  });

  it('provide their IDs to the logs', async () => {
    const sinks = rememberingSinks();
    const logging = { level: 'ERROR', access_log_format: 'custom', access_log_custom_format: '%{traceId} %{spanId}\n' };
    await start({}, { extra_config: { 'telemetry/logging': logging } }, { sinks });
    await stage.ask('/u/1', { headers: { traceparent } });
    const { spanId } = stageOf(await spans(5), 'global');
    await until(() => sinks.lines.includes(`${traceId} ${spanId}\n`));
  });

  it('have no cost if they are not exported', async () => {
    await stage.start();
    await stage.ask('/u/1', { headers: { traceparent } });
    equal(sentHeaders()['traceparent'], undefined);
  });
});
