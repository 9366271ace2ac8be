import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "logs"', () => {
  for (const file of ['gateway.json', 'moesif.json']) {
    it(`passes check without warnings: ${file}`, async () => {
      const { code, err } = await sluice('check', '-c', `samples/logs/${file}`);
      deepEqual([code, err], [0, '']);
    });
  }

  it('responds even if no server receives its log messages', async () => {
    const sample = await serveSample('logs');
    try {
      equal((await sample.gateway.inject('/users/1')).statusCode, 200);
    } finally {
      await sample.close();
    }
  });
});
