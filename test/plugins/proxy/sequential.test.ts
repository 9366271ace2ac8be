import { deepEqual, equal, ok } from 'node:assert/strict';
import { BackendError, type PipeRequest, Reply, refuse, type Step } from '#contract';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { backendConfig, messages, noting, over, responses, skipped } from './around.ts';

type Backend = Step<PipeRequest>;

const down: Backend = () => Reply.failed(new BackendError('BACKEND_STATUS', 'invalid status code 404'));
const harness = (backends: readonly Backend[]) => openHarness(plugin, 'endpoint', { sequential: true }, over(backends));

const send = async (backends: readonly Backend[]) => (await harness(backends)).send('GET /');

describe('the sequential setting of proxy', () => {
  it('calls backends in order, each after the response of the previous one', async () => {
    const order: string[] = [];
    const slow =
      (name: string): Backend =>
      async () => {
        order.push(`${name} called`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} answered`);
        return Reply.data({});
      };
    await send([slow('0'), slow('1'), slow('2')]);
    deepEqual(order, ['0 called', '0 answered', '1 called', '1 answered', '2 called', '2 answered']);
  });

  it('is reported to components, which then know that later backends can use earlier responses', async () => {
    equal((await harness([down, down])).attached.gather!.sequential, true);
  });

  it('provides earlier responses to every backend', async () => {
    const seen: PipeRequest[] = [];
    const backends = ['{"id":1034}', '{"id":2}', '{"id":3}'].map((json) => noting(seen, responses(json)));
    await send(backends);
    equal(seen[1]!.earlier[0]!.data!['id'], 1034);
    equal(seen[2]!.earlier[0]!.data!['id'], 1034);
    equal(seen[2]!.earlier[1]!.data!['id'], 2);
  });

  it('merges responses in the order of declaration, so that later keys replace earlier ones', async () => {
    const reply = await send([responses('{"a":1,"x":{"p":1}}'), responses('{"b":2,"x":{"q":2}}')]);
    deepEqual(reply.data, { a: 1, x: { q: 2 }, b: 2 });
    equal(reply.status, 200);
    equal(reply.complete, true);
    deepEqual(messages(reply), []);
  });

  it('merges with the configured combiner', async () => {
    const around = over([responses('{"l":[1]}'), responses('{"l":[2]}')]);
    const gate = await openHarness(plugin, 'endpoint', { sequential: true, combiner: 'append' }, around);
    deepEqual((await gate.send('GET /')).data, { l: [1, 2] });
  });

  it('keeps each response separate from the merged one', async () => {
    const first = Reply.data({ id: 1, x: { p: 1 } });
    const reply = await send([() => first, responses('{"id":2}'), responses('{"id":3}')]);
    reply.data!['new'] = 1;
    deepEqual(first.data, { id: 1, x: { p: 1 } });
  });

  it('copies the request for each backend', async () => {
    const seen: PipeRequest[] = [];
    const spoiling: Backend = (request) => {
      request.headers.set('X-A', '1');
      request.query.set('a', '1');
      request.params['A'] = '1';
      return Reply.data({});
    };
    const gate = await harness([spoiling, noting(seen, responses('{}'))]);
    await gate.send({ params: { Id: '7' } });
    equal(seen[0]!.headers.get('x-a'), undefined);
    equal(seen[0]!.query.get('a'), undefined);
    deepEqual(seen[0]!.params, { Id: '7' });
  });

  it('sends the request body to every backend', async () => {
    const bodies: string[] = [];
    const reading: Backend = async (request) => {
      bodies.push(Buffer.from(await request.body!.bytes()).toString());
      return Reply.data({});
    };
    await (await harness([reading, reading])).send({ method: 'POST', body: 'hello' });
    deepEqual(bodies, ['hello', 'hello']);
  });

  describe('when a backend fails', () => {
    it('fails with the error of the first backend and calls no other', async () => {
      const seen: PipeRequest[] = [];
      const reply = await send([down, noting(seen, responses('{"b":1}'))]);
      equal(reply.status, 500);
      equal(reply.failed, true);
      deepEqual(messages(reply), ['invalid status code 404']);
      equal(seen.length, 0);
    });

    it('returns an incomplete response if a later backend fails, and keeps the error for the log', async () => {
      const seen: PipeRequest[] = [];
      const reply = await send([responses('{"a":1}'), responses('{"b":1}'), down, noting(seen, responses('{"c":1}'))]);
      equal(reply.status, 200);
      deepEqual(reply.data, { a: 1, b: 1 });
      equal(reply.complete, false);
      deepEqual(messages(reply), ['invalid status code 404']);
      equal(seen.length, 0);
    });

    it('stops after an incomplete response and merges it', async () => {
      const seen: PipeRequest[] = [];
      const detailed: Backend = () => Reply.data({ error_b: { http_status_code: 404 } }, false);
      const reply = await send([responses('{"a":1}'), detailed, noting(seen, responses('{"c":1}'))]);
      deepEqual(reply.data, { a: 1, error_b: { http_status_code: 404 } });
      equal(reply.complete, false);
      equal(seen.length, 0);
    });

    it('stops even after an incomplete first response', async () => {
      const seen: PipeRequest[] = [];
      const reply = await send([() => Reply.data({ error_a: {} }, false), noting(seen, responses('{"b":1}'))]);
      equal(reply.status, 200);
      deepEqual(reply.data, { error_a: {} });
      equal(reply.complete, false);
      equal(seen.length, 0);
    });

    it('ends the sequence after a response without data', async () => {
      const reply = await send([responses('{"a":1}'), () => Reply.data(null, false), responses('{"c":1}')]);
      deepEqual(reply.data, { a: 1 });
      equal(reply.complete, false);
    });

    it('stops after a rejection', async () => {
      const first = await send([() => refuse(429), responses('{"b":1}')]);
      equal(first.status, 429);
      const later = await send([responses('{"a":1}'), () => refuse(429), responses('{"c":1}')]);
      equal(later.status, 200);
      deepEqual(later.data, { a: 1 });
      equal(later.complete, false);
    });

    it('treats an exception as a failure', async () => {
      const throwing: Backend = () => {
        throw new TypeError('bug');
      };
      const rejecting: Backend = () => Promise.reject(new TypeError('bug'));
      for (const broken of [throwing, rejecting]) {
        const reply = await send([responses('{"a":1}'), broken]);
        deepEqual(reply.data, { a: 1 });
        deepEqual(messages(reply), ['internal server error']);
      }
    });
  });

  describe('with a deadline', () => {
    const never: Backend = () => new Promise<Reply>(() => {});

    it('limits the whole sequence to 85% of the endpoint timeout', async () => {
      let first = 0;
      let second = 0;
      const gate = await openHarness(
        plugin,
        'endpoint',
        { sequential: true },
        {
          endpoint: { timeout: 10_000, backend: [backendConfig(), backendConfig()] },
          backends: [
            (_, call) => {
              first = call.remainingMs;
              return Reply.data({});
            },
            (_, call) => {
              second = call.remainingMs;
              return Reply.data({});
            },
          ],
        },
      );
      await gate.send('GET /');
      ok(first <= 8500 && first > 8000, `${first} ms`);
      ok(second <= first, `${second} ms`);
    });

    it('cancels a backend that exceeds it and calls no further backends', async () => {
      const seen: PipeRequest[] = [];
      const backends = [responses('{"a":1}'), never, noting(seen, responses('{"c":1}'))];
      const around = { endpoint: { timeout: 30, backend: backends.map(() => backendConfig()) }, backends };
      const gate = await openHarness(plugin, 'endpoint', { sequential: true }, around);
      const reply = await gate.send('GET /');
      deepEqual(reply.data, { a: 1 });
      equal(reply.complete, false);
      deepEqual(messages(reply), ['context deadline exceeded']);
      equal(seen.length, 0);
    });

    it('fails if the first backend exceeds it', async () => {
      const around = {
        endpoint: { timeout: 30, backend: [backendConfig(), backendConfig()] },
        backends: [never, never],
      };
      const reply = await (await openHarness(plugin, 'endpoint', { sequential: true }, around)).send('GET /');
      equal(reply.status, 500);
      deepEqual(messages(reply), ['context deadline exceeded']);
    });

    it('cancels the call in progress when the client disconnects', async () => {
      let cancelled = '';
      const waiting: Backend = (_, call) =>
        new Promise((resolve) => {
          call.onCancel((reason) => {
            cancelled = reason.message;
            resolve(Reply.data({}));
          });
        });
      const leaving: Backend = (_, call) => {
        setImmediate(() => call.cancel());
        return waiting(_, call);
      };
      const seen: PipeRequest[] = [];
      const reply = await send([leaving, noting(seen, responses('{}'))]);
      equal(cancelled, 'context canceled');
      deepEqual(messages(reply), ['context canceled']);
      equal(seen.length, 0);
    });
  });

  describe('with a skipped backend', () => {
    it('continues and returns a complete response', async () => {
      const reply = await send([responses('{"a":1}'), skipped, responses('{"c":1}')]);
      deepEqual(reply.data, { a: 1, c: 1 });
      equal(reply.complete, true);
    });

    it('continues if the first backend is skipped', async () => {
      const reply = await send([skipped, responses('{"b":1}')]);
      deepEqual(reply.data, { b: 1 });
      equal(reply.complete, true);
    });

    it('returns an empty, incomplete 200 if all backends are skipped', async () => {
      const reply = await send([skipped, skipped]);
      equal(reply.status, 200);
      deepEqual(reply.data, {});
      equal(reply.complete, false);
    });
  });
});
