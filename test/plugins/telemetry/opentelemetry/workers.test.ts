import { equal } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { Stage } from './fixture.ts';

const program = bundledProgram();

describe('telemetry/opentelemetry in several workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(180_000);
  const stage = new Stage();
  afterEach(() => stage.close());

  it('exposes and exports the sum of all workers, each request once, even across a reload', async () => {
    await stage.startBackend();
    const receiver = await stage.httpReceiver();
    const exporters = { otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true }] };
    const telemetry = { metric_reporting_period: 1, exporters };
    await stage.start(telemetry, {}, { workers: { count: 2, program, args: [] } });
    const ask = async (times: number) => {
      for (let count = 0; count < times; count++) await stage.ask('/u/1', { headers: { connection: 'close' } });
    };
    const counted = async () => (await stage.scrape()).value('http_server_duration');
    await ask(40);
    await until(async () => (await counted()) === 40);
    await stage.gateway.reload(stage.config(telemetry, { timeout: '3s' }));
    await ask(20);
    await until(async () => (await counted()) >= 60);
    equal(await counted(), 60);
    await until(() => receiver.last('http.server.duration')?.value === 60);
    await until(() => receiver.spans.length === 300);
    equal(new Set(receiver.spans.map(({ traceId }) => traceId)).size, 60);
  });
});
