import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { freePort } from '../support/conditions.ts';
import { followGuide } from './guide.ts';

describe('the sample "contracts"', function () {
  this.timeout(60_000);

  it('has a guide whose commands print the output that it shows', async () => {
    const port = await freePort();
    await followGuide('contracts', { env: { GATEWAY_ADMIN_LISTEN: `127.0.0.1:${port}` } });
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', 'samples/contracts/gateway.json');
    deepEqual([code, err], [0, '']);
  });
});
