import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { setEnvironment } from '../support/environment.ts';
import { startGateway } from '../support/gateway.ts';
import { awaitLibraryTimers } from '../support/library-timers.ts';
import { TestPubSub } from '../support/pubsub.ts';
import { TestServiceBus } from '../support/service-bus.ts';
import { followGuide } from './guide.ts';
import { ATTEMPTS, handedOver } from './handed-over.ts';

describe('the sample "clouds"', function () {
  // The time limit is raised, because the client libraries take long to load.
  this.timeout(180_000);
  const google = new TestPubSub();
  const azure = new TestServiceBus();
  let restore: () => void;

  before(async () => {
    await google.start();
    google.create('my-shop', 'orders');
    await azure.start();
    azure.create('orders', 'gateways');
    restore = setEnvironment({
      PUBSUB_EMULATOR_HOST: google.address,
      SERVICEBUS_CONNECTION_STRING: azure.connection,
    });
  });
  after(async () => {
    restore();
    await google.stop();
    await azure.stop();
  });
  awaitLibraryTimers();

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/clouds/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () => followGuide('clouds', { attempts: ATTEMPTS }));

  for (const cloud of ['google', 'azure']) {
    it(`delivers an order through ${cloud} to a request that waits for it`, async () => {
      const gateway = await startGateway(JSON.parse(readFileSync('samples/clouds/gateway.json', 'utf8')));
      deepEqual(await handedOver(gateway, `/${cloud}/orders`, `/${cloud}/orders/next`), { order: { id: 7 } });
      await gateway.close();
    });
  }
});
