import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operations } from '#kernel';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { startGateway } from '../support/gateway.ts';
import { checkFilled } from './filled-check.ts';
import { followGuide } from './guide.ts';

const file = 'samples/failover/gateway.json';

describe('the sample "failover"', function () {
  this.timeout(60_000);
  let upstream: Server;
  let origin: string;
  let gateway: Operations;

  before(async () => {
    upstream = createUpstream().listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    gateway = await startGateway(JSON.parse(readFileSync(file, 'utf8').replaceAll('http://127.0.0.1:8081', origin)));
  });
  after(async () => {
    await gateway.close();
    upstream.close();
    upstream.closeAllConnections();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await checkFilled(file, { OPENAI_KEY: 'of-the-sample', ANTHROPIC_KEY: 'of-the-sample' });
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () => followGuide('failover'));

  it('loses no request when a provider fails under load', async () => {
    const set = (state: string) => fetch(`${origin}/models/fast/${state}`, { method: 'POST' });
    const ask = async () => {
      const payload = { contents: 'hi' };
      const { statusCode, headers } = await gateway.inject({ method: 'POST', url: '/ask', payload });
      return `${statusCode} ${headers['x-ai-provider']}`;
    };
    const lane = async (): Promise<string[]> => {
      const seen = [];
      for (let each = 0; each < 25; each++) {
        if (each === 12) await set('down');
        seen.push(await ask());
      }
      return seen;
    };
    const lanes = await Promise.all(Array.from({ length: 8 }, lane));
    deepEqual(new Set(lanes.flat()), new Set(['200 fast', '200 careful']));
    for (const seen of lanes) deepEqual([seen[0], seen.at(-1)], ['200 fast', '200 careful']);
    equal((await set('up')).status, 200);
  });
});
