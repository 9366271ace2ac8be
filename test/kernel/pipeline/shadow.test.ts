import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, Call, claimsSlot, HeaderBag, Reply, traceSlot } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { withShadows } from '../../../kernel/pipeline/backend/shadow.ts';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { newCall, pipeRequest } from './requests.ts';

describe('a shadow backend', () => {
  it('receives a copy of the request with its body, and does not delay the response', async () => {
    const regular = await startBackend(json({ a: 1 }));
    let release = (): void => {};
    const shadow = await startBackend((_seen, response) => {
      release = () => response.end('{}');
    });
    const gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/x/{id}',
          method: 'POST',
          input_headers: ['X-A'],
          input_query_strings: ['q'],
          backend: [
            { url_pattern: '/r/{id}', host: [regular.url] },
            { url_pattern: '/s/{id}', host: [shadow.url], extra_config: { proxy: { shadow: true } } },
          ],
        },
      ],
    });
    const headers = { 'x-a': '1', 'content-type': 'text/x' };
    const received = await gateway.inject({ method: 'POST', url: '/x/7?q=1&r=2', headers, payload: 'whole' });
    deepEqual([received.body, received.headers['x-gateway-completed']], ['{"a":1}', 'true']);
    await until(() => shadow.requests.length === 1);
    release();
    const [seen] = shadow.requests;
    deepEqual([seen!.method, seen!.target, seen!.body.toString()], ['POST', '/s/7?q=1', 'whole']);
    deepEqual([seen!.headers['x-a'], seen!.headers['content-type']], ['1', 'text/x']);
    await gateway.close();
    await regular.close();
    await shadow.close();
  });

  it('has the longest timeout of its group, and continues when the client disconnects', () => {
    const calls: Call[] = [];
    const step = (_request: unknown, call: Call) => {
      calls.push(call);
      return Reply.data({});
    };
    const shadows = [
      { step, timeoutMs: 20 },
      { step, timeoutMs: 60_000 },
    ];
    const client = newCall();
    withShadows(shadows, () => Reply.data({}))(pipeRequest(), client);
    client.cancel();
    deepEqual(
      calls.map(({ remainingMs, reason }) => [remainingMs > 50_000, reason]),
      [
        [true, null],
        [true, null],
      ],
    );
  });

  it('is ended by its own timeout, logged only at DEBUG', async () => {
    const regular = await startBackend(json({ a: 1 }));
    let closed = 0;
    const shadow = await startBackend((_seen, response) => response.on('close', () => closed++));
    const sinks = rememberingSinks();
    const gateway = await startGateway(
      {
        endpoints: [
          {
            endpoint: '/x',
            timeout: '60s',
            backend: [
              { url_pattern: '/', host: [regular.url] },
              {
                url_pattern: '/',
                host: [shadow.url],
                extra_config: { proxy: { shadow: true, shadow_timeout: '30s' } },
              },
            ],
          },
        ],
      },
      { sinks, debug: true },
    );
    mock.timers.enable({ apis: ['setTimeout'] });
    equal((await gateway.inject('/x')).statusCode, 200);
    await until(() => shadow.requests.length === 1);
    mock.timers.tick(30_000);
    mock.timers.reset();
    await until(() => closed === 1);
    await until(() =>
      sinks.lines.some((line) => line.includes('DEBUG: [ENDPOINT: /x] [Shadow] context deadline exceeded')),
    );
    ok(!sinks.lines.some((line) => /ERROR/.test(line)));
    await gateway.close();
    await regular.close();
    await shadow.close();
  });

  it('has the claims of the token, and a separate request', async () => {
    const call = newCall();
    call.set(claimsSlot, { sub: 'me' });
    const claims: unknown[] = [];
    const request = pipeRequest();
    const step = withShadows(
      [
        {
          timeoutMs: 1000,
          step: (own, shadowCall) => {
            claims.push(shadowCall.get(claimsSlot));
            own.headers.set('X-Mine', '1');
            return Reply.data({});
          },
        },
      ],
      (regular) => Reply.data({ marked: regular.headers.has('x-mine') }),
    );
    deepEqual((await step(request, call)).data, { marked: false });
    deepEqual(claims, [{ sub: 'me' }]);
  });

  it('adds no step to a pipeline without shadow backends', () => {
    const next = () => Reply.data({});
    equal(withShadows([], next), next);
  });

  it('has the trace, and its response body is discarded', async () => {
    const call = newCall();
    call.set(traceSlot, { traceId: 'a', spanId: 'b' });
    const reported: string[] = [];
    const body = new ByteStream({ cancel: (reason) => void reported.push(reason.message) });
    let trace: unknown;
    const step = withShadows(
      [
        {
          timeoutMs: 60_000,
          step: (_own, shadowCall) => {
            trace = shadowCall.get(traceSlot);
            return Reply.raw(200, new HeaderBag(), body);
          },
        },
      ],
      () => Reply.data({}),
    );
    await step(pipeRequest(), call);
    await new Promise((resolve) => setImmediate(resolve));
    deepEqual(trace, { traceId: 'a', spanId: 'b' });
    body.write(Buffer.alloc(70_000));
    deepEqual(reported, ['context canceled']);
  });

  it('logs a thrown error at DEBUG', async () => {
    const lines: string[] = [];
    const report = (line: string | (() => string)) => void lines.push(typeof line === 'string' ? line : line());
    const step = withShadows(
      ['no error', new Error('oops')].map((thrown) => ({
        timeoutMs: 1000,
        step: () => {
          throw thrown;
        },
      })),
      () => Reply.data({}),
    );
    await step(pipeRequest(), new Call({ ...silentLog, debug: report }));
    await new Promise((resolve) => setImmediate(resolve));
    equal(lines[0], '[Shadow] no error');
    ok(/^\[Shadow\] Error: oops\n +at /.test(lines[1]!));
  });

  it('does not affect the response if it throws', async () => {
    const step = withShadows(
      [
        {
          timeoutMs: 1000,
          step: () => {
            throw new Error('oops');
          },
        },
      ],
      () => Reply.data({ a: 1 }),
    );
    deepEqual((await step(pipeRequest(), new Call())).data, { a: 1 });
  });
});
