import { deepEqual, equal, ok } from 'node:assert/strict';
import { freePort, until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { type Receiver, startHttpReceiver } from '../../../support/otlp.ts';
import { scrape } from '../../../support/prometheus.ts';
import { Stage } from './setup.ts';

describe('the telemetry of MCP tools', () => {
  const stage = new Stage();
  let receiver: Receiver;
  let scrapePort: number;
  const call = async (id: string) =>
    (await stage.call({ id }, { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }, 'user')).message.result;

  before(async () => {
    receiver = await startHttpReceiver();
    scrapePort = await freePort();
    const exporters = {
      prometheus: [{ name: 'local', port: scrapePort, listen_ip: '127.0.0.1' }],
      otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true }],
    };
    await stage.start(({ target }, response) => json({}, target === '/u/bad' ? 500 : 200)({} as never, response), {
      server: { stateless: true, json_response: true },
      endpoints: [{ endpoint: '/users/{id}', backend: [{ url_pattern: '/u/{id}' }] }],
      tools: [{ name: 'user', title: 'User', description: 'Looks a user up.', endpoint: '/users/{id}' }],
      root: { extra_config: { 'telemetry/opentelemetry': { exporters } } },
    });
  });
  after(async () => {
    await stage.close();
    await receiver.close();
  });

  it("creates a span for each call in the request's trace, with the endpoint's spans as children", async () => {
    equal((await call('1')).isError, undefined);
    equal((await call('bad')).isError, true);
    const spans = () => receiver.spans.filter(({ name }) => name === 'tools/call user');
    await until(() => spans().length === 2 && receiver.spans.some(({ name }) => name === 'POST /mcp'));
    const [good, bad] = spans();
    deepEqual([good!.attributes['mcp.method.name'], good!.attributes['gen_ai.tool.name']], ['tools/call', 'user']);
    deepEqual([/ERROR/.test(good!.status.code ?? ''), /ERROR/.test(bad!.status.code ?? '')], [false, true]);
    equal(good!.traceId, 'a'.repeat(32));
    const pipe = receiver.spans.filter(
      ({ attributes, traceId }) => attributes['krakend.stage'] === 'proxy' && traceId === good!.traceId,
    );
    ok(pipe.length > 0, receiver.spans.map(({ name }) => name).join());
    ok(pipe[0]!.start >= good!.start && pipe[0]!.end <= good!.end);
  });

  it("measures the duration of calls, labels failed calls, and does not change the endpoint's own metrics", async () => {
    await call('1');
    await stage.call({}, {}, 'user');
    const metrics = await scrape(scrapePort);
    const series = metrics.series('mcp_server_operation_duration', { gen_ai_tool_name: 'user' });
    const failed = series.filter(({ labels }) => labels['error_type'] === 'tool_error');
    ok(series.length === 2 && failed.length === 1, metrics.text);
    ok(failed[0]!.value >= 1);
    ok(metrics.series('http_client_duration', { krakend_endpoint_route: '/users/:id' }).length > 0, metrics.text);
  });
});
