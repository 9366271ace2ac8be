import { deepEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { sluice } from '../kernel/cli/command.ts';
import { freePort } from '../support/conditions.ts';
import { followGuide } from './guide.ts';

/** Finds a port whose successor is free as well. */
async function freePorts(): Promise<readonly [number, number]> {
  for (;;) {
    const port = await freePort();
    const server = createServer().listen(port + 1, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return [port, port + 1];
  }
}

describe('the sample "compat"', function () {
  this.timeout(60_000);

  it('has a guide whose commands print the output that it shows', async () => {
    const [first, second] = await freePorts();
    await followGuide('compat', { ports: { 9100: first, 9101: second } });
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', 'samples/compat/gateway.json');
    deepEqual([code, err], [0, '']);
  });
});
