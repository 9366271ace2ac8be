import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import type { Operations } from '#kernel';
import { countIn, MAX_COUNTERS } from '../../../plugins/governance/processors/memory.ts';
import { until } from '../../support/conditions.ts';
import { type Answering, json } from '../../support/gateway.ts';
import { beginStream, streamed, wholeStream } from '../../support/models.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';
import { openStream } from '../../support/stream-client.ts';
import { ask, ModelTestbed, modelOf } from '../ai/llm/fixture.ts';

/** Noon of a Wednesday: no window ends while a test runs. */
const NOON = Date.UTC(2026, 5, 17, 12);

const user = { 'x-user': 'ada' };
const whole = modelOf('openai').fixture;

/** A model that uses 40 tokens for input and 60 for output. */
const used100 = json({
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'hi' }] }],
  usage: { input_tokens: 40, output_tokens: 60, total_tokens: 100 },
});

for (const place of ['Redis', 'memory'] as const) {
  const isSkipped = place === 'Redis' && withoutRedis;
  (isSkipped ? describe.skip : describe)(`token budgets in ${place}`, function () {
    this.timeout(60_000);
    let testbed: ModelTestbed;
    let redis: TestRedis | null = null;
    let respond: Answering;
    let quotaName: string;
    let round = 0;

    before(async () => {
      if (place === 'Redis') redis = await startRedis();
      testbed = await ModelTestbed.open((seen, response) => respond(seen, response));
    });
    beforeEach(async () => {
      await redis?.command('FLUSHALL');
      // Each test uses a quota of its own, because counters in memory are kept as long as a gateway uses them.
      quotaName = `tokens-${round++}`;
      respond = used100;
      mock.timers.enable({ apis: ['Date'], now: NOON });
    });
    afterEach(async () => {
      mock.timers.reset();
      await testbed.closeGateways();
    });
    after(async () => {
      await testbed.close();
      await redis?.close();
    });

    const root = (amount: number, unit: string) => ({
      extra_config: {
        ...(redis && { redis: { connection_pools: [{ name: 'c', address: redis.address, command_timeout: '20s' }] } }),
        'governance/processors': {
          quotas: [
            {
              name: quotaName,
              ...(redis && { connection_name: 'c' }),
              rules: [{ name: 'small', limits: [{ amount, unit }] }],
            },
          ],
        },
      },
    });
    const serve = (
      amount: number,
      budget: object = {},
      endpoint: object = {},
      settings: object = {},
      unit = 'day',
    ): Promise<Operations> =>
      testbed.serve(
        'openai',
        settings,
        {
          ...endpoint,
          extra_config: {
            'governance/quota': {
              quota_name: quotaName,
              tier_key: 'X-Plan',
              tiers: [{ rule_name: 'small', tier_value_as: '*', key: 'X-User' }],
              token_budget: { max_output_tokens: 100, ...budget },
            },
          },
        },
        {},
        root(amount, unit),
      );
    const spend = (gateway: Operations, body?: unknown) => ask(gateway, body, user);
    const remaining = (headers: Record<string, unknown>) =>
      Number(/n=([\d.]+)/.exec(String(headers['x-quota-remaining']))?.[1]);
    /** Remaining budget, as the next response reports it. */
    const left = async (gateway: Operations): Promise<number> => {
      respond = (_seen, response) => void response.writeHead(500).end();
      await spend(gateway, { contents: 'x'.repeat(100_000) });
      const { headers } = await spend(gateway, { contents: 'x'.repeat(100_000) });
      return remaining(headers);
    };

    it('reserve the most that a request can use, and count what it has used', async () => {
      const gateway = await serve(1000);
      const { statusCode, headers } = await spend(gateway);
      deepEqual([statusCode, remaining(headers)], [200, 900]);
    });

    it('are never exceeded by parallel requests', async () => {
      const gateway = await serve(1000);
      let open = 0;
      let most = 0;
      respond = (seen, response) => {
        open++;
        most = Math.max(most, open);
        response.on('finish', () => open--);
        setImmediate(() => used100(seen, response));
      };
      const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await spend(gateway)).statusCode));
      const accepted = statuses.filter((status) => status === 200).length;
      deepEqual(new Set(statuses), new Set([200, 429]));
      // Each request reserves 17 bytes of prompt and 100 tokens of output.
      ok(most <= Math.floor(1000 / 117), `${most} at a time`);
      ok(accepted <= 10, `${accepted} accepted`);
      equal(await left(gateway), 1000 - accepted * 100);
    });

    it('accept requests until the next reservation does not fit', async () => {
      const gateway = await serve(250);
      const statuses = [];
      for (let each = 0; each < 4; each++) statuses.push((await spend(gateway)).statusCode);
      deepEqual(statuses, [200, 200, 429, 429]);
    });

    it('release the reservation of a request that failed', async () => {
      const gateway = await serve(1000);
      respond = (_seen, response) => void response.writeHead(503).end();
      for (let each = 0; each < 20; each++) equal((await spend(gateway)).statusCode, 500);
      await until(async () => (await left(gateway)) === 1000);
    });

    it('limit the output of the model to what is reserved', async () => {
      const gateway = await serve(1000);
      const sent = async (body: object) => {
        await spend(gateway, body);
        return JSON.parse(String(testbed.backend.requests.at(-1)!.body)).max_output_tokens;
      };
      equal(await sent({ contents: 'hi' }), 100);
      equal(await sent({ contents: 'hi', max_tokens: 7 }), 7);
      equal(await sent({ contents: 'hi', max_tokens: 1e6 }), 100);
      equal(await sent({ contents: 'hi', max_tokens: -1 }), 100);
    });

    for (const [unit, left] of [
      ['input', 960],
      ['output', 940],
      ['total', 900],
    ] as const) {
      it(`count ${unit} tokens`, async () => {
        const { headers } = await spend(await serve(1000, { unit }));
        equal(remaining(headers), left);
      });
    }

    it('count costs by the price of the model, or else of the budget', async () => {
      const price = { input: 10_000, output: 20_000 };
      const budget = { unit: 'cost', price };
      // The cost of 40 tokens at 0.01 each, and of 60 tokens at 0.02 each.
      equal(remaining((await spend(await serve(10, budget))).headers), 8.4);
      await testbed.closeGateways();
      await redis?.command('FLUSHALL');
      quotaName += '-own';
      const own = { price: { input: 100_000, output: 0 } };
      equal(remaining((await spend(await serve(10, budget, {}, own))).headers), 6);
    });

    it('count the usage of streams at their end', async () => {
      respond = (_seen, response) => void beginStream('openai', response).end(wholeStream('openai', whole));
      const gateway = await serve(1000, {}, { output_encoding: 'streaming' });
      const { port } = await gateway.listen();
      const body = '{"contents":"hi"}';
      const stream = await openStream(port, '/ask', { 'content-type': 'application/json', ...user }, body);
      await stream.ended();
      await until(async () => (await left(gateway)) === 993);
    });

    it('count the prompt and the received text of a stream whose client disconnects', async () => {
      const messages = whole.stream.messages;
      respond = (_seen, response) => {
        const begun = beginStream('openai', response);
        for (const message of messages.slice(0, 2)) begun.write(streamed('openai', message));
      };
      const gateway = await serve(1000, {}, { output_encoding: 'streaming' });
      const { port } = await gateway.listen();
      const body = JSON.stringify({ contents: 'x'.repeat(400) });
      const stream = await openStream(port, '/ask', { 'content-type': 'application/json', ...user }, body);
      await stream.until('data:');
      stream.leave();
      await until(async () => {
        const rest = await left(gateway);
        return rest < 950 && rest > 850;
      });
    });

    it('count the whole reservation of a call whose timeout has expired', async () => {
      respond = () => {};
      const gateway = await serve(1000, {}, { timeout: '100ms' });
      equal((await spend(gateway, { contents: 'x'.repeat(400) })).statusCode, 500);
      await until(async () => (await left(gateway)) === 1000 - 515);
    });

    it('count the whole reservation of a call whose client disconnects before the response', async () => {
      const asked = Promise.withResolvers<void>();
      respond = () => asked.resolve();
      const gateway = await serve(1000);
      const { port } = await gateway.listen();
      const body = JSON.stringify({ contents: 'x'.repeat(400) });
      const client = await openStream(port, '/ask', { 'content-type': 'application/json', ...user }, body);
      await asked.promise;
      client.leave();
      await until(async () => (await left(gateway)) === 1000 - 515);
    });

    for (const [what, number] of [
      ['negative', '-40'],
      ['infinite', '1e999'],
      ['not numeric', '"40"'],
      ['zero', '0'],
    ] as const) {
      it(`keep the reservation of a response whose usage is ${what}`, async () => {
        respond = (_seen, response) => {
          const usage = ['input', 'output', 'total'].map((kind) => `"${kind}_tokens":${number}`).join();
          response.writeHead(200, { 'Content-Type': 'application/json' });
          response.end(`{"output":[],"usage":{${usage}}}`);
        };
        const { headers } = await spend(await serve(1000));
        equal(remaining(headers), 1000 - 117);
      });
    }

    it('count usage beyond the reservation, and reject requests from then on', async () => {
      respond = json({ usage: { input_tokens: 5000, output_tokens: 5000, total_tokens: 10_000 } });
      const gateway = await serve(1000);
      const { headers } = await spend(gateway);
      deepEqual([remaining(headers), (await spend(gateway)).statusCode], [0, 429]);
    });

    it('never grant more than the limit, even if the counters are lost between the reservation and the count of the actual usage', async () => {
      const gateway = await serve(1000);
      respond = async (seen, response) => {
        await redis?.command('FLUSHALL');
        used100(seen, response);
      };
      const { headers } = await spend(gateway);
      equal(remaining(headers), 900);
    });

    it('count in the earlier window if the clock is set back', async () => {
      const gateway = await serve(250, {}, {}, {}, 'minute');
      equal((await spend(gateway)).statusCode, 200);
      mock.timers.setTime(NOON + 61_000);
      equal((await spend(gateway)).statusCode, 200);
      mock.timers.setTime(NOON);
      deepEqual([(await spend(gateway)).statusCode, (await spend(gateway)).statusCode], [200, 429]);
    });

    it('count the actual usage in the window of the reservation', async () => {
      const gateway = await serve(1000, {}, {}, {}, 'minute');
      respond = (seen, response) => {
        mock.timers.setTime(NOON + 61_000);
        used100(seen, response);
      };
      await spend(gateway);
      equal(await left(gateway), 1000);
      mock.timers.setTime(NOON);
      equal(await left(gateway), 900);
    });

    it('keep the reservation of a response without usage', async () => {
      respond = json({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'hi' }] }] });
      const { headers } = await spend(await serve(1000));
      equal(remaining(headers), 1000 - 117);
    });
  });
}

describe('token budgets', () => {
  it('are rejected in combination with a weight, and for costs without a price', async () => {
    const testbed = await ModelTestbed.open(used100);
    const issues = (budget: object, more: object = {}) =>
      testbed.issues(
        'openai',
        {},
        {
          extra_config: {
            'governance/quota': {
              quota_name: 'q',
              tier_key: 'X-Plan',
              tiers: [{ rule_name: 'r', tier_value_as: '*', key: 'X-User' }],
              token_budget: budget,
              ...more,
            },
          },
        },
        {},
        {
          extra_config: {
            'governance/processors': {
              quotas: [{ name: 'q', rules: [{ name: 'r', limits: [{ amount: 1, unit: 'day' }] }] }],
            },
          },
        },
      );
    const at = '/endpoints/0/extra_config/governance~1quota/token_budget';
    deepEqual(await issues({}, { weight_key: 'usage' }), [`QUOTA_BUDGET ${at}`]);
    deepEqual(await issues({ unit: 'cost' }), [`QUOTA_BUDGET ${at}`]);
    await testbed.close();
  });
});

describe('counters of quotas in memory', () => {
  const args = (kind: string, weight: number, limit = 10) => [kind, String(weight), String(limit), '1000'];

  it('are limited in number: expired ones are dropped first, then the oldest', () => {
    const counters = new Map();
    for (let each = 0; each < MAX_COUNTERS; each++) countIn(counters, [`k${each}`], args('add', 1), 0);
    countIn(counters, ['new'], args('add', 1), 500);
    equal(counters.size, MAX_COUNTERS);
    deepEqual([counters.has('k0'), counters.has('k1')], [false, true]);
    countIn(counters, ['newer'], args('add', 1), 1200);
    deepEqual([counters.size, counters.has('new')], [2, true]);
  });

  it('do not subtract a reservation that was lost with its counter', () => {
    const counters = new Map();
    const settle = (used: number, reserved: number) =>
      countIn(counters, ['a'], ['settle', String(used), '1000', '60000', String(reserved)], 0);
    deepEqual(settle(100, 500), [1, '100']);
    countIn(counters, ['a'], ['take', '500', '1000', '60000'], 0);
    deepEqual(settle(100, 500), [1, '200']);
  });

  it('count in all windows or in none', () => {
    const counters = new Map();
    const both = (kind: string, weight: number) => [kind, String(weight), '10', '1000', '5', '1000'];
    deepEqual(countIn(counters, ['a', 'b'], both('take', 4), 0), [1, '4', '4']);
    deepEqual(countIn(counters, ['a', 'b'], both('take', 2), 0), [0, '4', '4']);
    deepEqual(countIn(counters, ['a', 'b'], both('add', -3), 0), [1, '1', '1']);
    deepEqual(countIn(counters, ['a', 'b'], both('look', 0), 0), [1, '1', '1']);
    deepEqual(countIn(counters, ['a', 'b'], both('look', 0), 1000), [1, '0', '0']);
  });
});
