import { deepEqual, equal } from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { freePort, until } from '../../../support/conditions.ts';
import { callUnary } from '../../../support/grpc/caller.ts';
import { SHOP } from '../../../support/grpc/server.ts';
import { type Receiver, startHttpReceiver } from '../../../support/otlp.ts';
import { scrape } from '../../../support/prometheus.ts';
import { find, Stage } from './fixture.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

describe('telemetry of gRPC services', () => {
  const stage = new Stage();
  let receiver: Receiver;
  let metricsPort: number;
  before(() => stage.open());
  after(() => stage.close());
  beforeEach(async () => {
    receiver = await startHttpReceiver();
    metricsPort = await freePort();
  });
  afterEach(async () => {
    await stage.end();
    await receiver.close();
  });

  const start = (opentelemetry: object) => {
    const services = [{ name: 'shop.Shop', methods: [find(stage.http('/status/404'))] }];
    const exporters = {
      otlp: [{ name: 'spans', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true }],
      prometheus: [{ name: 'local', port: metricsPort, listen_ip: '127.0.0.1' }],
    };
    return stage.start([], {
      extra_config: {
        grpc: { catalog: [SHOP], server: { services, opentelemetry } },
        'telemetry/opentelemetry': { exporters },
      },
    });
  };
  const ask = async (opentelemetry: object) => {
    const client = await start(opentelemetry);
    const metadata = { traceparent: `00-${traceId}-${parent}-01` };
    equal((await callUnary(client, 'Find', {}, { metadata })).code, status.NOT_FOUND);
    const response = await fetch(`http://127.0.0.1:${stage.port}/__health`);
    await response.text();
    const text = JSON.stringify(await scrape(metricsPort));
    return { isMeasured: text.includes('/shop.Shop/Find') };
  };

  it('measures and traces gRPC calls in the same way as endpoints', async () => {
    const { isMeasured } = await ask({});
    equal(isMeasured, true);
    await until(() => receiver.spans.some(({ kind }) => kind === 'SPAN_KIND_SERVER'));
    const span = receiver.spans.find(({ kind }) => kind === 'SPAN_KIND_SERVER')!;
    deepEqual(
      [span.name, span.traceId, span.parentSpanId, span.attributes['http.response.status_code']],
      ['POST /shop.Shop/Find', traceId, parent, 404],
    );
  });

  it('records no metrics if they are disabled', async () => {
    const { isMeasured } = await ask({ disable_metrics: true });
    equal(isMeasured, false);
    await until(() => receiver.spans.length > 0);
  });

  it('records no traces if they are disabled', async () => {
    const { isMeasured } = await ask({ disable_traces: true });
    equal(isMeasured, true);
    await stage.gateway.close();
    deepEqual(receiver.spans, []);
  });
});
