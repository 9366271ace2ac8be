import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';

describe('the sample "messages"', () => {
  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/messages/gateway.json');
    deepEqual([code, err], [0, '']);
  });
});
