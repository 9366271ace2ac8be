import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend, startGateway } from '../support/gateway.ts';
import { BUILDING_MS, startKafka, type TestKafka, withoutKafka } from '../support/kafka.ts';
import { followGuide } from './guide.ts';
import { ATTEMPTS } from './handed-over.ts';

describe('the sample "kafka"', function () {
  this.timeout(BUILDING_MS);

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/kafka/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  (withoutKafka ? describe.skip : describe)(`with Kafka${withoutKafka ? `: ${withoutKafka}` : ''}`, () => {
    let broker: TestKafka;
    before(async () => {
      broker = await startKafka(['-topics', 'orders:1']);
    });
    after(() => broker.close());

    it('has a guide whose commands print the output that it shows', () =>
      followGuide('kafka', { ports: { 9092: Number(broker.address.split(':').at(-1)) }, attempts: ATTEMPTS }));

    it('delivers an order to a request that waits for it, with its customer as the key', async () => {
      const text = readFileSync('samples/kafka/gateway.json', 'utf8');
      const gateway = await startGateway(JSON.parse(text.replaceAll('127.0.0.1:9092', broker.address)));
      const next = gateway.inject('/orders/next');
      let isOver = false;
      void next.then(() => {
        isOver = true;
      });
      const send = () =>
        gateway.inject({ method: 'POST', url: '/orders', payload: { id: 7 }, headers: { 'x-customer': 'ada' } });
      // Waits for the group, because records written before it has its position are not delivered.
      while (!isOver) equal((await send()).statusCode, 201);
      deepEqual((await next).json(), { order: { id: 7 } });
      await gateway.close();
      equal((await broker.records('orders'))[0]!.key, 'ada');
    });

    it('delivers an order to the backend of its async agent, with its customer in a header', async () => {
      const backend = await startBackend(json({ order: 1 }));
      const text = readFileSync('samples/kafka/gateway.json', 'utf8')
        .replaceAll('127.0.0.1:9092', broker.address)
        .replaceAll('http://127.0.0.1:8081', backend.url);
      const gateway = await startGateway(JSON.parse(text));
      await until(async () => {
        await gateway.inject({ method: 'POST', url: '/orders', payload: { id: 8 }, headers: { 'x-customer': 'bob' } });
        return backend.requests.some(({ headers }) => headers['x-customer'] === 'bob');
      });
      const { method, target, body } = backend.requests.find(({ headers }) => headers['x-customer'] === 'bob')!;
      deepEqual([method, target, String(body)], ['POST', '/orders', '{"id":8}']);
      await gateway.close();
      await backend.close();
    });
  });
});
