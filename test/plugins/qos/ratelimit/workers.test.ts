import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { type Harness, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/router.ts';

describe('qos/ratelimit/router in several workers', () => {
  const clock = { time: 0, now: () => clock.time };
  const testbeds: Harness[] = [];

  async function open(config: object, count: number): Promise<Harness[]> {
    const services = { clock };
    const owner = await openHarness(plugin, 'endpoint', config, { role: 'owner', services });
    testbeds.push(owner);
    for (let each = 0; each < count; each++)
      testbeds.push(await openHarness(plugin, 'endpoint', config, { owner, services }));
    return testbeds.slice(1);
  }

  const pass = (ms: number) => {
    clock.time += ms;
    mock.timers.tick(ms);
  };

  const passes = async (worker: Harness, ip = '127.0.0.1') => (await worker.send({ ip })).status === 200;

  /**
   * Requests that arrive at the workers in turn at different speeds.
   * @returns the number of accepted requests.
   */
  async function flood(workers: readonly Harness[], ms: number): Promise<number> {
    let passed = 0;
    for (let time = 0, turn = 0; time < ms; time++) {
      pass(1);
      for (let sent = 0; sent < 2; sent++) {
        turn = (turn * 5 + 3) % 97;
        if (await passes(workers[turn % workers.length]!)) passed += 1;
      }
    }
    return passed;
  }

  beforeEach(() => {
    clock.time = 0;
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(async () => {
    for (const one of testbeds.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
    mock.timers.reset();
  });

  for (const [rate, workers] of [
    [200, 4],
    [50, 8],
    [1, 3],
  ] as const) {
    it(`accepts between 90% and 100% of ${rate} a second plus the capacity in ${workers} workers`, async () => {
      const batch = Math.max(1, Math.floor(rate / 10));
      const passed = await flood(await open({ max_rate: rate }, workers), 3000);
      ok(passed <= rate * 4, `${passed} passed`);
      ok(passed >= rate * 4 - batch * workers, `only ${passed} passed`);
    });
  }

  it('is exact for small limits', async () => {
    const [first, second] = await open({ max_rate: 1, capacity: 3 }, 2);
    const passed: boolean[] = [];
    for (let turn = 0; turn < 3; turn++) passed.push(await passes(first!), await passes(second!));
    deepEqual(passed, [true, true, true, false, false, false]);
    pass(1000);
    deepEqual([await passes(second!), await passes(first!)], [true, false]);
  });

  it('counts each client separately in all workers', async () => {
    const [first, second] = await open({ client_max_rate: 1, client_capacity: 2, strategy: 'ip' }, 2);
    const of = async (ip: string) => [await passes(first!, ip), await passes(second!, ip), await passes(first!, ip)];
    deepEqual(await of('10.0.0.1'), [true, true, false]);
    deepEqual(await of('10.0.0.2'), [true, true, false]);
  });

  it('returns Retry-After even if the worker rejects the request without asking the main process', async () => {
    const [worker] = await open({ max_rate: 0.1, capacity: 1 }, 1);
    equal(await passes(worker!), true);
    for (let turn = 0; turn < 2; turn++) {
      const { status, headers } = await worker!.send('GET /');
      deepEqual([status, headers.get('retry-after')], [503, '10']);
    }
  });
});
