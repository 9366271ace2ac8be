import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { INSTALLATION_MS } from '../support/debian.ts';
import { setEnvironment } from '../support/environment.ts';
import { startGateway } from '../support/gateway.ts';
import { startNats, type TestNats, withoutNats } from '../support/nats.ts';
import { handedOver } from './handed-over.ts';

describe('the sample "pubsub"', function () {
  this.timeout(INSTALLATION_MS);
  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/pubsub/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  (withoutNats ? describe.skip : describe)(`with NATS${withoutNats ? `: ${withoutNats}` : ''}`, () => {
    let server: TestNats;
    let gateway: Operations;
    let restore: () => void;

    before(async () => {
      server = await startNats();
      restore = setEnvironment({ NATS_SERVER_URL: server.address });
      gateway = await startGateway(JSON.parse(readFileSync('samples/pubsub/gateway.json', 'utf8')));
    });
    after(async () => {
      await gateway.close();
      restore();
      await server.close();
    });

    it('delivers an order to a request that waits for it', async () => {
      deepEqual(await handedOver(gateway, '/orders', '/orders/next'), { order: { id: 7 } });
    });
  });
});
