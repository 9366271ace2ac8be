import { deepEqual } from 'node:assert/strict';
import { type Answering, json } from '../../../support/gateway.ts';
import { beginStream, models, wholeStream } from '../../../support/models.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';
import { ChatTestbed } from './setup.ts';

const messages = [{ role: 'user', content: 'hi' } as const];

(withoutRedis ? describe.skip : describe)(`ai/chat-completions and quotas ${withoutRedis ?? ''}`.trim(), () => {
  let testbed: ChatTestbed;
  let redis: TestRedis;
  let respond: Answering;

  before(async () => {
    redis = await startRedis();
    testbed = await ChatTestbed.open((seen, response) => respond(seen, response));
  });
  after(async () => {
    await testbed.close();
    await redis.close();
  });

  for (const stream of [false, true]) {
    it(`counts the tokens of ${stream ? 'streams' : 'complete responses'}`, async () => {
      const [vendor, , fixture] = models[0]!;
      respond = stream
        ? (_seen, response) => beginStream(vendor, response).end(wholeStream(vendor, fixture))
        : json(fixture.answer);
      const rules = [{ name: 'small', limits: [{ amount: 10, unit: 'year' }] }];
      await testbed.serve({
        root: {
          extra_config: {
            redis: { connection_pools: [{ name: 'c', address: redis.address, command_timeout: '20s' }] },
            'governance/processors': { quotas: [{ name: `tokens ${stream}`, connection_name: 'c', rules }] },
          },
        },
        endpoint: {
          extra_config: {
            'governance/quota': {
              quota_name: `tokens ${stream}`,
              tier_key: 'X-Plan',
              tiers: [{ rule_name: 'small', tier_value_as: '*', key: 'X-User' }],
              weight_key: 'usage',
            },
          },
        },
      });
      const headers = { 'X-Plan': 'a', 'X-User': 'ada' };
      const status = async (): Promise<number> => {
        const body = { model: vendor, messages, stream };
        const requested = testbed.client.chat.completions.create(body, { headers }).asResponse();
        const response = (await requested.catch((error: unknown) => error)) as Response;
        if (response.body) await response.text();
        return response.status;
      };
      const statuses = [await status(), await status()];
      // Waits, because the usage of a stream is counted after its end.
      let third = await status();
      for (let tries = 0; third === 200 && tries < 20; tries += 1) third = await status();
      deepEqual([...statuses, third], [200, 200, 429]);
    });
  }
});
