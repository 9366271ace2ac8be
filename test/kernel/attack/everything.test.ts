import { equal } from 'node:assert/strict';
import { everything } from '../../everything/config.ts';
import { isLong } from '../../support/budget.ts';
import { createFolder, sluice } from '../cli/command.ts';

describe('sluice attack on a configuration with every component', function () {
  this.timeout(300_000);

  // The time limit is raised, because 2,000 requests take 11 s of processor time.
  if (!isLong) return;

  it('shows no weakness', async () => {
    const folder = createFolder();
    try {
      const ports = { redisPort: 1, gelfPort: 2, metricsPort: 3, revokerPort: 4 };
      const surroundings = { upstream: 'http://192.0.2.1:8000', grpcHost: '192.0.2.1:8001', ...ports };
      const { code, out, err } = await sluice('attack', folder.write('gateway.json', everything(surroundings)));
      equal(code, 0, out + err);
    } finally {
      folder.remove();
    }
  });
});
