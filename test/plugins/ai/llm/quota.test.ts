import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { type Answering, json } from '../../../support/gateway.ts';
import { beginStream, models, streamed, wholeStream } from '../../../support/models.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';
import { openStream } from '../../../support/stream-client.ts';
import { ask, ModelTestbed, modelOf } from './fixture.ts';

/** Noon of a Wednesday: no window ends while a test runs. */
const NOON = Date.UTC(2026, 5, 17, 12);

const quota = {
  quota_name: 'tokens',
  tier_key: 'X-Plan',
  tiers: [{ rule_name: 'small', tier_value_as: '*', key: 'X-User' }],
  weight_key: 'usage',
};
const prompt = '{"contents":"hi"}';
const user = { 'content-type': 'application/json', 'x-user': 'ada' };
const streaming = { output_encoding: 'streaming' };

(withoutRedis ? describe.skip : describe)(`ai/llm with quotas ${withoutRedis ?? ''}`.trim(), function () {
  this.timeout(60_000);
  let testbed: ModelTestbed;
  let redis: TestRedis;
  let respond: Answering;

  before(async () => {
    redis = await startRedis();
    testbed = await ModelTestbed.open((seen, response) => respond(seen, response));
  });
  beforeEach(async () => {
    await redis.command('FLUSHALL');
    mock.timers.enable({ apis: ['Date'], now: NOON });
  });
  afterEach(async () => {
    mock.timers.reset();
    await testbed.closeGateways();
  });
  after(async () => {
    await testbed.close();
    await redis.close();
  });

  const root = () => ({
    extra_config: {
      redis: { connection_pools: [{ name: 'c', address: redis.address, command_timeout: '20s' }] },
      'governance/processors': {
        quotas: [
          { name: 'tokens', connection_name: 'c', rules: [{ name: 'small', limits: [{ amount: 10, unit: 'day' }] }] },
        ],
      },
    },
  });
  const serve = (
    vendor: string,
    settings: object = {},
    endpoint: object = {},
    use: object = quota,
    more: object = {},
  ) => testbed.serve(vendor, settings, { ...endpoint, extra_config: { 'governance/quota': use } }, more, root());
  /** The status of a streamed response. */
  const stream = async (gateway: Operations): Promise<number> => {
    const { port } = await gateway.listen();
    const opened = await openStream(port, '/ask', user, prompt);
    await opened.ended();
    return opened.status;
  };
  const used = async (): Promise<number> => {
    const keys = (await redis.command('KEYS', '*')) as string[];
    const counts = await Promise.all(keys.map((key) => redis.command('GET', key)));
    return counts.reduce<number>((sum, count) => sum + Number(count), 0);
  };

  it('counts the usage of responses and rejects callers that have exhausted their quota', async () => {
    respond = json(modelOf('openai').fixture.answer);
    const gateway = await serve('openai');
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await ask(gateway, { contents: 'hi' }, user)).statusCode);
    deepEqual(statuses, [200, 200, 429]);
  });

  for (const [vendor, , fixture] of models) {
    for (const format of ['native', 'openai']) {
      it(`counts the usage of a stream from ${vendor} once, in the format ${format}`, async () => {
        respond = (_seen, response) => void beginStream(vendor, response).end(wholeStream(vendor, fixture));
        const gateway = await serve(vendor, { format }, streaming);
        equal(await stream(gateway), 200);
        await until(async () => (await used()) === 7);
        equal(await stream(gateway), 200);
        await until(async () => (await used()) === 14);
        equal((await ask(gateway, { contents: 'hi' }, user)).statusCode, 429);
      });
    }
  }

  it('counts usage at a backend', async () => {
    const { fixture } = modelOf('openai');
    respond = (_seen, response) => void beginStream('openai', response).end(wholeStream('openai', fixture));
    const gateway = await testbed.serve(
      'openai',
      {},
      streaming,
      { extra_config: { 'governance/quota': quota } },
      root(),
    );
    equal(await stream(gateway), 200);
    await until(async () => (await used()) === 7);
  });

  it('adds up a usage field over the messages of a stream, which continues even if it exceeds the quota', async () => {
    const message = streamed('openai', { data: { usage: { total_tokens: 6 } } });
    respond = (_seen, response) => void beginStream('openai', response).end(Buffer.concat([message, message, message]));
    const gateway = await serve('openai', {}, streaming, { ...quota, weight_key: 'usage.total_tokens' });
    const { port } = await gateway.listen();
    const opened = await openStream(port, '/ask', user, prompt);
    equal(await opened.ended(), true);
    equal(String(opened.bytes).split('total_tokens').length - 1, 3);
    await until(async () => (await used()) === 18);
    equal((await ask(gateway, { contents: 'hi' }, user)).statusCode, 429);
  });

  it('counts a stream without usage data as 1', async () => {
    respond = (_seen, response) => void beginStream('openai', response).end('data: {"a":1}\n\n');
    const gateway = await serve('openai', {}, streaming);
    await stream(gateway);
    await until(async () => (await used()) === 1);
    ok(testbed.lines.some((line) => line.includes('no message of the stream has a weight at "usage"')));
  });

  it('counts the usage reported before the client disconnected', async () => {
    respond = (_seen, response) =>
      void beginStream('anthropic', response).write(
        streamed('anthropic', modelOf('anthropic').fixture.stream.messages[0]!),
      );
    const gateway = await serve('anthropic', {}, streaming);
    const { port } = await gateway.listen();
    const opened = await openStream(port, '/ask', user, prompt);
    await opened.until('message_start');
    opened.leave();
    await until(async () => (await used()) === 4);
  });

  for (const [format, what, text] of [
    ['native', 'x', 'x'.repeat(399)],
    ['openai', 'x', 'x'.repeat(399)],
    ['native', '你', '你'.repeat(133)],
  ] as const) {
    it(`estimates the usage from the length of the text if the client disconnects before the vendor reports the usage, in the format ${format} (${what})`, async () => {
      const { fixture } = modelOf('mistral');
      let sent = 0;
      respond = (seen, response) => {
        sent = seen.body.length;
        beginStream('mistral', response).write(streamed('mistral', fixture.stream.messages[0]!));
        response.write(streamed('mistral', { data: { choices: [{ index: 0, delta: { content: text } }] } }));
      };
      const gateway = await serve('mistral', { format }, streaming);
      const { port } = await gateway.listen();
      const opened = await openStream(port, '/ask', user, prompt);
      await opened.until(what.repeat(3));
      opened.leave();
      const expected = Math.ceil(sent / 4) + 100;
      await until(async () => (await used()) >= expected);
      const counted = await used();
      ok(counted <= expected + 5, `${counted} tokens, not ${expected}`);
    });
  }

  it('counts nothing for a failed vendor call', async () => {
    respond = (_seen, response) => void response.writeHead(500).end('{}');
    const gateway = await serve('openai', {}, streaming);
    equal(await stream(gateway), 500);
    equal(await used(), 0);
  });
});
