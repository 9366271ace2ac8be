import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { atEndpoint, before, definePlugin, refuse } from '#contract';
import { type Harness, openHarness } from '../../../kernel/testing/index.ts';

/** Accepts a fixed number of requests per tenant until the configuration ends. */
const quota = definePlugin({
  name: 'test/quota',
  description: 'Lets a number of requests through.',
  places: [
    atEndpoint(
      {
        type: 'object',
        properties: {
          requests: { type: 'integer', description: 'How many.', default: 100 },
          batch: { type: 'integer', description: 'How many a worker takes at once.', default: 10 },
        },
      },
      ({ config: { requests, batch }, lease }) => {
        const take = lease('quota', {
          open: () => new Map<string, number>(),
          take: (used, of) => {
            const before = used.get(of) ?? 0;
            if (before >= requests) return 1000;
            used.set(of, before + 1);
            return 0;
          },
          takeMore: (used, most, of) => {
            const more = Math.min(most, requests - used.get(of)!);
            used.set(of, used.get(of)! + more);
            return more;
          },
          giveBack: (used, tokens, of) => used.set(of, used.get(of)! - tokens),
          batch,
        });
        const respond = (waitMs: number) => (waitMs === 0 ? undefined : refuse(429));
        return {
          endpoint: before((request) => {
            const waitMs = take(request.headers.get('x-tenant'));
            return typeof waitMs === 'number' ? respond(waitMs) : waitMs.then(respond);
          }),
        };
      },
    ),
  ],
});

describe('tokens of a rate limit that workers take in batches', () => {
  const harnesses: Harness[] = [];
  const clock = { time: 0, now: () => clock.time };

  async function open(config: object, workers: number): Promise<Harness[]> {
    const services = { clock };
    const owner = await openHarness(quota, 'endpoint', config, { role: 'owner', services });
    harnesses.push(owner);
    const made: Harness[] = [];
    for (let each = 0; each < workers; each++)
      made.push(await openHarness(quota, 'endpoint', config, { owner, services }));
    harnesses.push(...made);
    return made;
  }

  const send = async (worker: Harness, count: number, tenant = 'a') => {
    let passed = 0;
    for (let sent = 0; sent < count; sent++) {
      if ((await worker.send({ headers: { 'X-Tenant': tenant } })).status === 200) passed += 1;
    }
    return passed;
  };

  /** Advances the clock and its timers. */
  const pass = async (ms: number) => {
    clock.time += ms;
    mock.timers.tick(ms);
    await nextTurn();
  };

  beforeEach(() => {
    clock.time = 0;
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(async () => {
    for (const one of harnesses.splice(0).reverse()) deepEqual(await one.close(), { kept: 0, deferred: 0 });
    mock.timers.reset();
  });

  it('never exceed the limit, regardless of the number of workers', async () => {
    const workers = await open({ requests: 100 }, 4);
    const passed = await Promise.all(workers.map((worker) => send(worker, 100)));
    equal(passed[0]! + passed[1]! + passed[2]! + passed[3]!, 100);
  });

  it('are exact if a worker takes one at a time', async () => {
    const [first, second] = await open({ requests: 3, batch: 1 }, 2);
    deepEqual(
      [await send(first!, 1), await send(second!, 1), await send(first!, 5), await send(second!, 5)],
      [1, 1, 1, 0],
    );
  });

  it('return to other workers soon if one worker does not use them', async () => {
    const [first, second] = await open({ requests: 12, batch: 10 }, 2);
    equal(await send(first!, 1), 1);
    equal(await send(second!, 10), 2);
    await pass(100);
    await pass(100);
    equal(await send(second!, 20), 9);
  });

  it('are returned when the configuration of the worker ends', async () => {
    const [first, second] = await open({ requests: 10 }, 2);
    equal(await send(first!, 1), 1);
    await first!.reload({ requests: 10 });
    equal(await send(second!, 20), 9);
  });

  it('are given to all concurrent requests within the limit, and to no others', async () => {
    const [worker] = await open({ requests: 25, batch: 10 }, 1);
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => worker!.send('GET /').then(({ status }) => status)),
    );
    equal(statuses.filter((status) => status === 200).length, 25);
    equal(statuses.filter((status) => status === 429).length, 15);
  });

  it('are separate for each key', async () => {
    const [worker] = await open({ requests: 5 }, 1);
    deepEqual([await send(worker!, 9, 'a'), await send(worker!, 9, '__proto__')], [5, 5]);
  });
});
