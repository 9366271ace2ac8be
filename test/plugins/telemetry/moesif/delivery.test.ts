import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { toolServices } from '../../../../kernel/cli/tools.ts';
import { Registry } from '../../../../kernel/registry/registry.ts';
import { examine } from '../../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { Delivery } from '../../../../plugins/telemetry/moesif/delivery.ts';
import { rememberingLog } from '../../../support/log.ts';
import { startCollector } from './collector.ts';

describe('the delivery of Moesif events', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(() => collector.close());

  const open = (more: Partial<Delivery['options']> = {}) => {
    const log = rememberingLog();
    const options = {
      url: collector.url,
      applicationId: 'app',
      batchSize: 2,
      queueSize: 3,
      debug: false,
      log,
      authorities: undefined,
      denied: toolServices().denied,
      ...more,
    };
    return { delivery: new Delivery(options), lines: log.lines };
  };

  it('sends a batch as soon as it is full, and the rest on request', async () => {
    const { delivery } = open({ queueSize: 10 });
    for (const number of [1, 2, 3]) delivery.add(`{"n":${number}}`);
    await delivery.flush();
    deepEqual(collector.events, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    deepEqual(
      collector.pushes.map(({ count }) => count),
      [2, 1],
    );
  });

  for (const status of [500, 503, 429]) {
    it(`keeps the events of a request that returned ${status}, and sends them first`, async () => {
      const { delivery, lines } = open({ queueSize: 10 });
      collector.state.status = status;
      delivery.add('{"n":1}');
      await delivery.flush();
      delivery.add('{"n":2}');
      await delivery.flush();
      collector.state.status = 201;
      await delivery.flush();
      deepEqual(collector.events, [{ n: 1 }, { n: 2 }]);
      deepEqual(lines, [`ERROR events cannot be pushed: status ${status}`]);
    });
  }

  it('cancels a response that does not end', async () => {
    const { delivery, lines } = open();
    collector.state.respond = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', more);
      };
      response.writeHead(201);
      more();
    };
    delivery.add('{"n":1}');
    await delivery.flush();
    deepEqual(lines, ['ERROR events cannot be pushed: a reply of more than 65536 bytes']);
  });

  it("never sends to the gateway's admin port", async () => {
    const { denied } = toolServices();
    denied.deny({ address: '127.0.0.1', port: Number(new URL(collector.url).port) });
    const { delivery, lines } = open({ denied });
    delivery.add('{"n":1}');
    await delivery.flush();
    deepEqual(collector.pushes, []);
    match(lines[0]!, /is the gateway's own admin port/);
  });

  it('ends within its timeout if the collector does not respond', async () => {
    const { delivery } = open({ closeMs: 50 });
    const { promise: isPushed, resolve: push } = Promise.withResolvers<unknown>();
    collector.state.respond = push;
    delivery.add('{"n":1}');
    const flushed = delivery.flush();
    await isPushed;
    await delivery.close();
    await flushed;
    equal(collector.pushes.length, 1);
  });

  it('waits for the next interval after a failed request, regardless of new events', async () => {
    const { delivery } = open({ batchSize: 1, queueSize: 10 });
    collector.state.status = 500;
    delivery.add('1');
    await delivery.flush();
    for (const event of ['2', '3', '4']) delivery.add(event);
    equal(collector.pushes.length, 1);
    collector.state.status = 201;
    await delivery.flush();
    deepEqual(collector.events, [1, 2, 3, 4]);
  });

  it('drops the events of a permanently rejected request', async () => {
    const { delivery } = open();
    collector.state.status = 401;
    delivery.add('{"n":1}');
    await delivery.flush();
    collector.state.status = 201;
    await delivery.flush();
    deepEqual([collector.events, collector.pushes.length], [[], 1]);
  });

  it('drops and counts excess events, with one warning a minute', async () => {
    const { delivery, lines } = open({ batchSize: 100 });
    for (const number of [1, 2, 3, 4, 5]) delivery.add(`{"n":${number}}`);
    equal(delivery.dropped, 2);
    deepEqual(lines, ['WARNING the queue of events is full: 1 dropped so far']);
    await delivery.flush();
    equal(collector.events.length, 3);
  });

  it('queues at most 64 MiB, regardless of the number of events', async () => {
    const { delivery } = open({ batchSize: 100, queueSize: 100 });
    const event = JSON.stringify('x'.repeat(40 * 1024 * 1024));
    delivery.add(event);
    delivery.add(event);
    equal(delivery.dropped, 1);
  });

  it('waits for an unresponsive or unreachable collector no longer than its timeout', async () => {
    const sockets: Socket[] = [];
    const hanging = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const { port } = hanging.address() as { port: number };
    const { delivery, lines } = open({ url: `http://127.0.0.1:${port}`, timeoutMs: 50 });
    delivery.add('{"n":1}');
    await delivery.flush();
    match(lines[0]!, /^ERROR events cannot be pushed: .*50ms/);
    for (const socket of sockets) socket.destroy();
    hanging.close();
    await once(hanging, 'close');
  });
});

describe('check of telemetry/moesif', () => {
  let registry: Registry;
  before(() => {
    registry = new Registry(catalogue, toolServices());
  });
  after(() => registry.close());

  for (const [what, config, code] of [
    ['a missing application ID', { user_id_headers: [] }, 'SCHEMA_REQUIRED'],
    ['missing user_id_headers', { application_id: 'a' }, 'SCHEMA_REQUIRED'],
    [
      'two sources of the company',
      { application_id: 'a', user_id_headers: [], identify_company: { header: 'a', jwt_claim: 'b' } },
      'SCHEMA_EXACTLY_ONE',
    ],
    ['an invalid condition', { application_id: 'a', user_id_headers: [], should_skip: '1 +' }, 'CEL_SYNTAX'],
    [
      'a condition on a response',
      { application_id: 'a', user_id_headers: [], should_skip: 'resp_completed' },
      'CEL_NAME',
    ],
    ['a batch size of 0', { application_id: 'a', user_id_headers: [], batch_size: 0 }, 'SCHEMA_RANGE'],
    ['an unknown field', { application_id: 'a', user_id_headers: [], url: 'x' }, 'SCHEMA_UNKNOWN_KEY'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const document = { version: 3, endpoints: [], extra_config: { 'telemetry/moesif': config } };
      const { errors } = await examine(document, {}, registry, true);
      equal(errors[0]?.code, code);
    });
  }
});
