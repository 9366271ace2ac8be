import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Call, CancelledError } from '#contract';
import { startUnaccepting, type UnacceptingServer } from '../../support/unaccepting.ts';
import { Bench, errorOf, send } from './http-client.ts';

/** Waits until the given number of connections are being opened. */
async function connectingAre(count: number): Promise<void> {
  const isConnecting = (kind: string) => kind === 'ConnectWrap';
  while (process.getActiveResourcesInfo().filter(isConnecting).length !== count) await immediate();
}

describe('a pending backend connection', () => {
  const bench = new Bench();
  let server: UnacceptingServer;
  beforeEach(async () => {
    server = await startUnaccepting();
  });
  afterEach(async () => {
    mock.timers.reset();
    await bench.close();
    await server.close();
  });

  for (const [name, service, endsAfterMs] of [
    ['20 seconds if dialer_timeout is 0', {}, 20_000],
    ['dialer_timeout', { dialer_timeout: 300 }, 300],
  ] as const) {
    it(`times out after ${name}, even if its request was canceled earlier`, async () => {
      const gate = await bench.client({}, { service });
      mock.timers.enable({ apis: ['setTimeout'] });
      const call = new Call();
      const reply = send(gate, { origin: `http://127.0.0.1:${server.port}`, call });
      await connectingAre(1);
      call.cancel(new CancelledError());
      equal(errorOf(await reply).code, new CancelledError().code);
      mock.timers.tick(endsAfterMs - 1);
      await connectingAre(1);
      mock.timers.tick(1);
      await connectingAre(0);
    });
  }
});
