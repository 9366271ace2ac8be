// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { Operations } from '../../../kernel/index.ts';
import { collectorOf, newRelic, plugin } from '../../../plugins/telemetry/newrelic.ts';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { type ReceivedSpan, type Receiver, type ReceiverOptions, startHttpReceiver } from '../../support/otlp.ts';
import { startWith } from '../../support/plugged.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe('telemetry/newrelic', () => {
  let backend: TestBackend;
  let receiver: Receiver;
  let gateway: Operations | undefined;
  const opened: Receiver[] = [];

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  beforeEach(() => receive());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    for (const each of opened.splice(0)) await each.close();
  });

  const receive = async (options?: ReceiverOptions) => {
    receiver = await startHttpReceiver(options);
    opened.push(receiver);
  };
  const local = () => newRelic(() => `http://127.0.0.1:${receiver.port}`);
  const config = (own: object = {}, more: object = {}) => ({
    name: 'shop',
    extra_config: { 'telemetry/newrelic': { license: 'key-of-the-account', ...own }, ...more },
    endpoints: [
      {
        endpoint: '/u/{id}',
        input_headers: ['*'],
        backend: [
          { host: [backend.url], url_pattern: '/users/{id}' },
          { host: [backend.url], url_pattern: '/orders/{id}', group: 'orders' },
        ],
      },
    ],
  });
  const start = async (own?: object, options?: Parameters<typeof startWith>[2]) => {
    gateway = await startWith([local()], config(own), options);
  };
  const ask = async (headers: Record<string, string> = {}) => {
    const { statusCode } = await gateway!.inject({ method: 'GET', url: '/u/1', headers });
    equal(statusCode, 200);
  };
  const transaction = async (): Promise<ReceivedSpan> => {
    const find = () => receiver.spans.find(({ kind }) => kind === 'SPAN_KIND_SERVER');
    await until(() => find() !== undefined);
    return find()!;
  };
  const headersOf = ({ attributes }: ReceivedSpan) =>
    Object.fromEntries(
      Object.entries(attributes)
        .filter(([key]) => key.includes('.header.'))
        .map(([key, value]) => [key.replace('http.request.header.', ''), String(value)]),
    );

  it("sends a transaction named by the endpoint's pattern, with a segment for each backend", async () => {
    await start();
    await ask();
    await until(() => receiver.spans.length >= 5);
    const root = await transaction();
    deepEqual([root.name, root.attributes['http.route']], ['GET /u/:id', '/u/:id']);
    equal(root.resource['service.name'], 'shop');
    const segments = receiver.spans.filter(({ kind }) => kind === 'SPAN_KIND_INTERNAL');
    deepEqual(segments.map(({ name }) => name).sort(), ['/orders/:id', '/users/:id']);
    ok(segments.every(({ parentSpanId }) => parentSpanId === root.spanId));
    const requests = receiver.spans.filter(({ kind }) => kind === 'SPAN_KIND_CLIENT');
    deepEqual(requests.map(({ parentSpanId }) => parentSpanId).sort(), segments.map(({ spanId }) => spanId).sort());
    equal(receiver.spans.length, 5);
  });

  it('sends transactions over OTLP with the license as api-key, and no metrics', async () => {
    await start();
    await ask();
    await gateway!.close();
    equal(receiver.spans.length, 5);
    deepEqual(
      receiver.requests.map(({ path, headers }) => [path, headers['api-key']]),
      [['/v1/traces', 'key-of-the-account']],
    );
  });

  it('sends data for licenses that begin with eu to the European collector', () => {
    equal(collectorOf('eu01xx0000NRAL'), 'https://otlp.eu01.nr-data.net');
    equal(collectorOf('0000euNRAL'), 'https://otlp.nr-data.net');
  });

  it("propagates the client's trace to backends", async () => {
    await start();
    const before = backend.requests.length;
    await ask({ traceparent });
    await until(() => receiver.spans.length >= 5);
    const sent = backend.requests.slice(before).map(({ headers }) => headers['traceparent']);
    const requests = receiver.spans.filter(({ kind }) => kind === 'SPAN_KIND_CLIENT');
    deepEqual(sent.sort(), requests.map(({ spanId }) => `00-${traceId}-${spanId}-01`).sort());
  });

  const credentials = { authorization: 'Bearer secret', cookie: 'a=b', 'proxy-authorization': 'Basic eA==' };
  for (const [what, passed, expected] of [
    ['none by default', undefined, {}],
    ['listed ones, in any letter case', ['X-Tenant', 'x-none'], { 'x-tenant': 'acme' }],
    ['all except credentials with "*"', ['*'], { 'x-tenant': 'acme', 'x-other': 'b', host: 'localhost' }],
    ['listed credentials', ['*', 'Cookie'], { 'x-tenant': 'acme', 'x-other': 'b', host: 'localhost', cookie: 'a=b' }],
  ] as const) {
    it(`reports the request headers: ${what}`, async () => {
      await start(passed && { headers_to_pass: passed });
      await ask({ host: 'localhost', 'X-Tenant': 'acme', 'X-Other': 'b', ...credentials });
      const { 'user-agent': _agent, ...headers } = headersOf(await transaction());
      deepEqual(headers, expected);
      ok(receiver.spans.every((span) => span.kind === 'SPAN_KIND_SERVER' || Object.keys(headersOf(span)).length === 0));
    });
  }

  for (const debug of [true, false]) {
    it(`${debug ? 'logs every export with' : 'logs no export without'} debug`, async () => {
      const sinks = rememberingSinks();
      gateway = await startWith(
        [local()],
        { ...config({ debug }, { 'telemetry/logging': { level: 'DEBUG', stdout: true } }) },
        { sinks },
      );
      await ask();
      await gateway.close();
      equal(receiver.spans.length, 5);
      const lines = sinks.lines.filter((line) => line.includes('[SERVICE: New Relic]'));
      equal(lines.length, debug ? 1 : 0);
      if (debug) match(lines[0]!, /DEBUG.*5 spans pushed/);
    });
  }

  it('serves clients while New Relic rejects exports, and logs that without the license', async () => {
    await receive({ fail: () => 403 });
    const sinks = rememberingSinks();
    await start({}, { sinks });
    await ask();
    await gateway!.close();
    const errors = sinks.lines.filter((line) => line.includes('[SERVICE: New Relic]'));
    equal(errors.length, 1);
    match(errors[0]!, /exporter "New Relic" at 127\.0\.0\.1:\d+: status 403; 5 spans lost so far/);
    ok(sinks.lines.every((line) => !line.includes('key-of-the-account')));
  });

  it('sends the transactions from before and after a reload', async () => {
    await start();
    await ask();
    await gateway!.reload({ version: 3, ...config(), timeout: '3s' });
    await ask();
    await gateway!.close();
    equal(receiver.spans.length, 10);
  });

  describe('is rejected', () => {
    it('with telemetry/opentelemetry', async () => {
      const other = { exporters: { prometheus: [{ name: 'local', port: 0, listen_ip: '127.0.0.1' }] } };
      const both = config({}, { 'telemetry/opentelemetry': other });
      await rejects(startWith([local()], both), /NEWRELIC_OPENTELEMETRY.*telemetry\/opentelemetry cannot be combined/);
    });

    for (const [what, own, message] of [
      ['without a license', {}, /license/],
      ['with an empty license', { license: '' }, /license/],
      ['with a line break in the license', { license: 'key\n' }, /\/license {2}NEWRELIC_LICENSE/],
      ['with an invalid header name', { license: 'key', headers_to_pass: ['a b'] }, /headers_to_pass\/0/],
      ['with an unknown field', { license: 'key', region: 'eu' }, /region/],
    ] as const) {
      it(what, () => rejects(openHarness(plugin, 'service', own), message));
    }
  });

  it('is accepted with a warning if it reports credentials', async () => {
    const gate = await openHarness(plugin, 'service', {
      license: '${NEW_RELIC_LICENSE}',
      headers_to_pass: ['X-A', 'Authorization'],
    });
    deepEqual(
      gate.warnings.map(({ code, pointer }) => [code, pointer]),
      [['NEWRELIC_CREDENTIALS', '/headers_to_pass/1']],
    );
    await gate.close();
  });
});
