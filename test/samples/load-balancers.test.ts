import { deepEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sluice } from '../kernel/cli/command.ts';
import { followGuide } from './guide.ts';

describe('the sample "load-balancers"', function () {
  this.timeout(60_000);

  it('has a guide whose commands print the output that it shows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-guide-'));
    try {
      await followGuide('load-balancers', { servers: { '/tmp/sluice-guide.sock': join(folder, 'a.sock') } });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  for (const file of ['gateway', 'socket']) {
    it(`passes check without warnings: ${file}.json`, async () => {
      const { code, err } = await sluice('check', '-c', `samples/load-balancers/${file}.json`);
      deepEqual([code, err], [0, '']);
    });
  }
});
