import { freePort } from '../support/conditions.ts';
import { followGuide } from './guide.ts';

describe('the sample "dashboard"', function () {
  this.timeout(60_000);

  it('has a guide whose commands print the output that it shows', async () => {
    const port = await freePort();
    await followGuide('dashboard', { ports: { 9180: port }, env: { GATEWAY_ADMIN_LISTEN: `127.0.0.1:${port}` } });
  });
});
