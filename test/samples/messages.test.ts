import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';

describe('the sample of messages', () => {
  it('is checked without a finding', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/messages/gateway.json');
    deepEqual([code, err], [0, '']);
  });
});
