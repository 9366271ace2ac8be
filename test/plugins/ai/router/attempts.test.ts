import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, Call, HeaderBag, makeRequest, PipeRequest, Query, Reply } from '#contract';
import { callInOrder, type Policy } from '../../../../plugins/ai/router/attempts.ts';
import { arrangeBy, type Candidate } from '../../../../plugins/ai/router/candidate.ts';
import { Health } from '../../../../plugins/ai/router/health.ts';

function candidate(name: string, call: Candidate['call'], health = new Health()): Candidate {
  return { name, vendor: 'openai', model: name, price: 1, health, call };
}

const policy: Policy = {
  statuses: new Set([500]),
  attemptTimeoutMs: 1000,
  cooldownMs: 0,
  showsProvider: true,
  measures: { answered() {}, failed() {} },
  now: () => 0,
};

function requestOf(): PipeRequest {
  return new PipeRequest(makeRequest({ method: 'POST' }), {}, new Query(), new HeaderBag(), null);
}

describe('an attempt of ai/router to call a provider', () => {
  afterEach(() => mock.timers.reset());

  it('has no time limit once its stream has begun', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const call = new Call();
    let cancelled: Call | null = null;
    const stream = new ByteStream();
    stream.write(Buffer.from('a'));
    const first = candidate('a', (_request, part) => {
      cancelled = part;
      return Reply.raw(200, new HeaderBag(), stream);
    });
    const never = candidate('b', () => Reply.data({}));
    const reply = await callInOrder([first, never], { request: requestOf(), body: null }, call, policy);
    mock.timers.tick(10_000);
    equal(reply.headers.get('x-ai-provider'), 'a');
    equal(cancelled!.reason, null);
  });

  it('discards a response that arrives after its time limit', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const late = Promise.withResolvers<Reply>();
    const stream = new ByteStream();
    const result = callInOrder(
      [candidate('a', () => late.promise), candidate('b', () => Reply.data({}))],
      { request: requestOf(), body: null },
      new Call(),
      policy,
    );
    mock.timers.tick(1000);
    equal((await result).headers.get('x-ai-provider'), 'b');
    stream.write(Buffer.from('a'));
    late.resolve(Reply.raw(200, new HeaderBag(), stream));
    await new Promise(setImmediate);
    equal(stream.isTaken, true);
  });

  it('percent-encodes names of providers that contain characters forbidden in headers', async () => {
    const reply = await callInOrder(
      [candidate('schnell\r\nü', () => Reply.data({}))],
      { request: requestOf(), body: null },
      new Call(),
      policy,
    );
    equal(reply.headers.get('x-ai-provider'), 'schnell%0D%0A%C3%BC');
  });
});

describe('the ai/router strategy', () => {
  const names = (candidates: readonly Candidate[]) => candidates.map(({ name }) => name);
  const never = () => Reply.data({});

  it('"latency" measures a provider again when the last measurement is a minute old', () => {
    const [fast, slow] = [new Health(), new Health()];
    fast.answered(10, 0);
    slow.answered(100, 50_000);
    const arrange = arrangeBy('latency', new Map());
    const both = [candidate('slow', never, slow), candidate('fast', never, fast)];
    deepEqual(names(arrange(both, 50_001)), ['fast', 'slow']);
    slow.answered(100, 100_000);
    deepEqual(names(arrange(both, 120_000)), ['fast', 'slow']);
  });

  it('"weight" selects the first provider according to the weights', () => {
    const both = [candidate('a', never), candidate('b', never)];
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const arrange = arrangeBy('weight', new Map([['a', 9]]), random);
    let first = 0;
    for (let round = 0; round < 10_000; round++) if (arrange(both, 0)[0]!.name === 'a') first++;
    equal(Math.round(first / 1000), 9);
  });
});
