import { deepEqual, equal, ok } from 'node:assert/strict';
import { ByteStream, type Call, CallError, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';
import { concurrently } from '../../../kernel/pipeline/backend/concurrent.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { newCall, pipeRequest } from './requests.ts';

const T = 60_000;
const never = (): Promise<Reply> => new Promise(() => {});

/** A step that records its calls, each of which has its own outcome. */
function oneByOne(...responses: ((request: PipeRequest) => Reply | Promise<Reply>)[]): {
  step: Step<PipeRequest>;
  calls: Call[];
} {
  const calls: Call[] = [];
  return {
    calls,
    step: (request, call) => {
      calls.push(call);
      return responses[calls.length - 1]!(request);
    },
  };
}

const failed = (text: string) => () => Reply.failed(new CallError('TEST', text));

describe('concurrent calls', () => {
  it('use the first complete response and cancel the others', async () => {
    const { step, calls } = oneByOne(never, () => Reply.data({ a: 1 }), never);
    deepEqual((await concurrently(3, step, T)(pipeRequest(), newCall())).data, { a: 1 });
    deepEqual(
      calls.map(({ reason }) => reason?.message ?? null),
      ['context canceled', null, 'context canceled'],
    );
  });

  it('continue after an error or an incomplete response', async () => {
    const { step } = oneByOne(
      failed('no'),
      () => Reply.data({ part: 1 }, false),
      async () => Reply.data({ whole: 1 }),
    );
    deepEqual((await concurrently(3, step, T)(pipeRequest(), newCall())).data, { whole: 1 });
  });

  it('fall back to an incomplete response, regardless of later failures', async () => {
    const { step } = oneByOne(() => Reply.data({ part: 1 }, false), failed('no'));
    const reply = await concurrently(2, step, T)(pipeRequest(), newCall());
    deepEqual([reply.data, reply.complete], [{ part: 1 }, false]);
  });

  it('fail with the last error if all fail', async () => {
    const { step } = oneByOne(failed('one'), failed('two'));
    const reply = await concurrently(2, step, T)(pipeRequest(), newCall());
    deepEqual(
      reply.errors.map(({ message }) => message),
      ['two'],
    );
  });

  it('continue if one of them throws', async () => {
    const { step } = oneByOne(
      () => {
        throw new Error('oops');
      },
      () => Reply.data({ a: 1 }),
    );
    deepEqual((await concurrently(2, step, T)(pipeRequest(), newCall())).data, { a: 1 });
  });

  it('count thrown errors and rejected promises as failures', async () => {
    const { step } = oneByOne(
      failed('one'),
      () => {
        throw new CallError('TEST', 'thrown');
      },
      () => Promise.reject(new CallError('TEST', 'rejected')),
    );
    const reply = await concurrently(3, step, T)(pipeRequest(), newCall());
    deepEqual(
      reply.errors.map(({ message }) => message),
      ['rejected'],
    );
  });

  it('are not made if the request is already canceled', async () => {
    const call = newCall();
    call.cancel();
    const { step, calls } = oneByOne(never, never);
    const { errors } = await concurrently(2, step, T)(pipeRequest(), call);
    deepEqual([errors.map(({ message }) => message), calls.length], [['context canceled'], 0]);
  });

  it('return a streamed response at once, and let its body arrive completely even if another call responds later', async () => {
    const late = Promise.withResolvers<Reply>();
    const bytes = Reply.raw(200, new HeaderBag(), new ByteStream());
    bytes.complete = false;
    const { step, calls } = oneByOne(
      () => bytes,
      () => late.promise,
    );
    const call = newCall();
    equal(await concurrently(2, step, T)(pipeRequest(), call), bytes);
    late.resolve(Reply.data({ a: 1 }));
    await late.promise;
    const ends = [calls[0]!.reason];
    call.cancel();
    ends.push(calls[0]!.reason);
    deepEqual(
      ends.map((end) => end?.message),
      [undefined, 'context canceled'],
    );
  });

  it('end when the first response arrives, and the call that sent it is not canceled afterwards', async () => {
    const { step, calls } = oneByOne(() => Reply.data({ a: 1 }), never);
    const call = newCall();
    await concurrently(2, step, T)(pipeRequest(), call);
    call.cancel();
    equal(calls[0]!.reason, null);
  });

  it('have a separate request each', async () => {
    const seen: string[] = [];
    const change = (request: PipeRequest): Reply => {
      seen.push(request.headers.get('x-mark') ?? 'clean');
      request.headers.set('X-Mark', 'dirty');
      request.params.Id = 'dirty';
      return Reply.data(null, false);
    };
    const request = pipeRequest();
    await concurrently(2, oneByOne(change, change).step, T)(request, newCall());
    deepEqual(seen, ['clean', 'clean']);
    deepEqual(request.params, {});
  });

  it('are canceled with the deadline error as the reason when the deadline ends them', async () => {
    const { step, calls } = oneByOne(never, never);
    const reply = await concurrently(2, step, 20)(pipeRequest(), newCall());
    deepEqual(
      reply.errors.map(({ code }) => code),
      ['CALL_DEADLINE'],
    );
    deepEqual(
      calls.map(({ reason }) => (reason as CallError).code),
      ['CALL_DEADLINE', 'CALL_DEADLINE'],
    );
  });

  it('close the connections of the other calls once one has responded, without a log line', async () => {
    let closed = 0;
    const backend = await startBackend((_seen, response) => {
      response.on('close', () => response.writableFinished || closed++);
      if (backend.requests.length === 3) response.end('{"ok":1}');
    });
    const sinks = rememberingSinks();
    const gateway = await startGateway(
      { host: [backend.url], endpoints: [{ endpoint: '/x', concurrent_calls: 3, backend: [{ url_pattern: '/' }] }] },
      { sinks },
    );
    equal((await gateway.inject('/x')).body, '{"ok":1}');
    await until(() => closed === 2);
    ok(!sinks.lines.some((line) => /WARNING|ERROR/.test(line)));
    await gateway.close();
    await backend.close();
  });

  it('are made at every step of a sequence', async () => {
    const waiting = new Map<string, (() => void)[]>();
    const backend = await startBackend(({ target }, response) => {
      const both = waiting.get(target) ?? [];
      waiting.set(target, [...both, () => response.end(`{"id":"of${target.slice(1)}"}`)]);
      // Responds only after both requests have arrived.
      if (both.length === 1) for (const respond of waiting.get(target)!) respond();
    });
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/x',
          concurrent_calls: 2,
          extra_config: { proxy: { sequential: true } },
          backend: [{ url_pattern: '/first' }, { url_pattern: '/{resp0_id}', group: 'second' }],
        },
      ],
    });
    deepEqual((await gateway.inject({ url: '/x' })).json(), { id: 'offirst', second: { id: 'ofoffirst' } });
    deepEqual(
      backend.requests.map(({ target }) => target),
      ['/first', '/first', '/offirst', '/offirst'],
    );
    await gateway.close();
    await backend.close();
  });

  it('are made for each backend, with the complete body each', async () => {
    const waiting: (() => void)[] = [];
    const backend = await startBackend((seen, response) => {
      waiting.push(() => response.end(`{"${seen.target.slice(1)}":1}`));
      if (waiting.length === 4) for (const respond of waiting) respond();
    });
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/x',
          method: 'POST',
          concurrent_calls: 2,
          backend: [{ url_pattern: '/a' }, { url_pattern: '/b' }],
        },
      ],
    });
    const received = await gateway.inject({
      method: 'POST',
      url: '/x',
      payload: 'whole',
      headers: { 'content-type': 'text/x' },
    });
    equal(received.body, '{"a":1,"b":1}');
    deepEqual(backend.requests.map(({ target }) => target).sort(), ['/a', '/a', '/b', '/b']);
    for (const { body, headers } of backend.requests) {
      equal(body.toString(), 'whole');
      equal(headers['content-type'], 'text/x');
    }
    await gateway.close();
    await backend.close();
  });
});
