import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { followGuide } from './guide.ts';

describe('the sample "secrets"', function () {
  this.timeout(60_000);

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/secrets/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () => followGuide('secrets', { attempts: 200 }));
});
