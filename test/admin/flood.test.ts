import { deepEqual, equal, ok } from 'node:assert/strict';
import { Agent, type RequestOptions, request } from 'node:http';
import { openAdmin, type TestAdmin, TOKEN } from './support.ts';

const FLOOD = 2_000;

describe('a flood of wrong tokens from one address', function () {
  this.timeout(60_000);
  let one: TestAdmin;
  let agent: Agent;
  beforeEach(async () => {
    one = await openAdmin();
    agent = new Agent({ keepAlive: true, maxSockets: 20 });
  });
  afterEach(async () => {
    agent.destroy();
    await one.close();
  });

  interface Outcome {
    readonly status: number;
    readonly retryAfter: string | undefined;
  }

  function call(port: number, path: string, token: string, more: RequestOptions = {}): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const headers = { authorization: `Bearer ${token}` };
    const sent = request({ host: '127.0.0.1', port, path, agent, headers, ...more }, (response) => {
      const { statusCode = 0, headers: responses } = response;
      response.resume().once('end', () => resolve({ status: statusCode, retryAfter: responses['retry-after'] }));
    });
    sent.once('error', reject).end();
    return promise;
  }

  const adminPort = () => Number(one.admin.address!.split(':')[1]);
  const flood = () =>
    Promise.all(Array.from({ length: FLOOD }, (_, n) => call(adminPort(), '/v1/status', `wrong-${n}`)));

  it('is answered 401 ten times, then 429 with Retry-After', async () => {
    const responses = await flood();
    const counts = Map.groupBy(responses, ({ status }) => status);
    deepEqual([...counts].map(([status, { length }]) => [status, length]).sort(), [
      [401, 10],
      [429, FLOOD - 10],
    ]);
    ok(counts.get(429)!.every(({ retryAfter }) => Number(retryAfter) > 0 && Number(retryAfter) <= 60));
  });

  it('does not block clients with a valid token from that address', async () => {
    const flooding = flood();
    const own = new Agent({ keepAlive: true });
    for (let time = 0; time < 20; time++) {
      equal((await call(adminPort(), '/v1/status', TOKEN, { agent: own })).status, 200);
    }
    await flooding;
    equal((await call(adminPort(), '/v1/status', TOKEN, { agent: own })).status, 200);
    own.destroy();
  });

  // On other systems, the loopback interface has a single address.
  (process.platform === 'linux' ? it : it.skip)('does not affect other addresses', async () => {
    await flood();
    const elsewhere = { localAddress: '127.0.0.2', agent: false } as const;
    equal((await call(adminPort(), '/v1/status', 'wrong', elsewhere)).status, 401);
    equal((await call(adminPort(), '/v1/status', TOKEN, elsewhere)).status, 200);
  });

  it('does not affect requests to the gateway', async () => {
    const port = one.gateway.processes.port!;
    const own = new Agent({ keepAlive: true });
    let isFlooding = true;
    const flooding = flood().finally(() => (isFlooding = false));
    const statuses: number[] = [];
    while (isFlooding) statuses.push((await call(port, '/__health', '', { agent: own })).status);
    await flooding;
    own.destroy();
    ok(statuses.length > 0);
    deepEqual([...new Set(statuses)], [200]);
  });

  it('is logged once', async () => {
    await flood();
    equal(one.lines.filter((line) => line.includes('wrong token')).length, 1);
  });
});
