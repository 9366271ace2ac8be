import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import type { Broker } from '../plugins/clients/amqp/broker.test.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { followGuide } from './guide.ts';
import { ATTEMPTS, handedOver } from './handed-over.ts';

/** Tests of the sample "messages" with requests. */
export function messagesSampleSuite(broker: () => Broker): void {
  describe('the sample "messages"', () => {
    let backend: TestBackend;
    before(async () => {
      backend = await startBackend(json({ parcel: 1 }));
    });
    after(() => backend.close());

    it('has a guide whose commands print the output that it shows', async () => {
      const ports = { 5672: broker().rabbit.port, 9000: Number(new URL(backend.url).port) };
      await followGuide('messages', { ports, attempts: ATTEMPTS });
      await until(() => backend.requests.length > 0);
    });
  });

  describe('the gateway of the sample "messages"', () => {
    let backend: TestBackend;
    let gateway: Operations;

    before(async () => {
      backend = await startBackend(json({ parcel: 1 }));
      const text = readFileSync('samples/messages/gateway.json', 'utf8')
        .replaceAll('amqp://127.0.0.1:5672/', broker().rabbit.url)
        .replaceAll('http://127.0.0.1:9000', backend.url);
      gateway = await startGateway(JSON.parse(text));
    });
    after(async () => {
      await gateway.close();
      await backend.close();
    });

    const order = (event: string) =>
      gateway.inject({
        method: 'POST',
        url: `/orders/${event}`,
        payload: '{"id":7}',
        headers: { 'content-type': 'application/json' },
      });

    it('delivers an order to the backend of its async agent', async () => {
      await until(async () => (await gateway.inject('/__health')).json().agents.warehouse !== null);
      equal((await order('created')).statusCode, 200);
      await until(() => backend.requests.length === 1);
      const [{ method, target, body, headers }] = backend.requests as [TestBackend['requests'][number]];
      deepEqual(
        [method, target, String(body), headers['content-type']],
        ['POST', '/parcels', '{"id":7}', 'application/json'],
      );
    });

    it('returns an invoice', async () => {
      deepEqual(await handedOver(gateway, '/orders/billed', '/bills/next'), { bill: { id: 7 } });
    });
  });
}
