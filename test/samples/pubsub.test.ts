import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { until } from '../support/conditions.ts';
import { INSTALLATION_MS } from '../support/debian.ts';
import { setEnvironment } from '../support/environment.ts';
import { json, startBackend, startGateway } from '../support/gateway.ts';
import { startNats, type TestNats, withoutNats } from '../support/nats.ts';
import { followGuide } from './guide.ts';
import { ATTEMPTS, handedOver } from './handed-over.ts';

describe('the sample "pubsub"', function () {
  this.timeout(INSTALLATION_MS);
  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/pubsub/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  (withoutNats ? describe.skip : describe)(`with NATS${withoutNats ? `: ${withoutNats}` : ''}`, () => {
    let server: TestNats;
    before(async () => {
      server = await startNats();
    });
    after(() => server.close());

    it('has a guide whose commands print the output that it shows', () =>
      followGuide('pubsub', { ports: { 4222: Number(new URL(server.address).port) }, attempts: ATTEMPTS }));

    it('delivers an order to a request that waits for it, and to the backend of its async agent', async () => {
      const restore = setEnvironment({ NATS_SERVER_URL: server.address });
      const backend = await startBackend(json({ order: 1001 }));
      const text = readFileSync('samples/pubsub/gateway.json', 'utf8')
        .replace('nats://127.0.0.1:4222', server.address)
        .replace('http://127.0.0.1:8081', backend.url);
      const gateway = await startGateway(JSON.parse(text));
      try {
        await until(async () => (await gateway.inject('/__health')).json().agents.warehouse !== null);
        deepEqual(await handedOver(gateway, '/orders', '/orders/next'), { order: { id: 7 } });
        // Waits for the agent, because NATS does not keep a message that was published before the agent has subscribed.
        const publish = () => gateway.inject({ method: 'POST', url: '/orders', payload: { id: 7 } });
        await until(async () => (await publish()).statusCode === 200 && backend.requests.length > 0);
        const { method, target, body } = backend.requests[0]!;
        deepEqual([method, target, String(body)], ['POST', '/orders', '{"id":7}']);
      } finally {
        await gateway.close();
        await backend.close();
        restore();
      }
    });
  });
});
