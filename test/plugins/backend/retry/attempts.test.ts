import { deepEqual, equal, ok } from 'node:assert/strict';
import { Readable } from 'node:stream';
import {
  type ActiveSpan,
  BackendError,
  ByteStream,
  type Call,
  CallError,
  CancelledError,
  HeaderBag,
  makeRequest,
  meters,
  offer,
  type PipeRequest,
  Reply,
  RequestBody,
  type Step,
  tracers,
} from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import type { HarnessOptions } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/backend/retry/index.ts';
import { GrpcError } from '../../../../plugins/engines/grpc/status.ts';
import { until } from '../../../support/conditions.ts';
import { openHarness } from '../../../support/harness.ts';
import { holding, PROTOTYPE_NAMES } from '../../../support/prototype-names.ts';

const reset = new BackendError('BACKEND_RESET', 'reset');
const atOnce = { backoff: { base: '0s' } };

/** Replies one after another; the last one repeats. */
function replying(...plan: (() => Reply | Promise<Reply>)[]) {
  let calls = 0;
  const next: Step<PipeRequest> = () => plan[Math.min(calls++, plan.length - 1)]!();
  return { next, calls: () => calls };
}

const ok200 = () => Reply.data({ ok: true });
const failed = (error: CallError) => () => Reply.failed(error);
const status = (code: number, headers?: HeaderBag) => () => Reply.raw(code, headers ?? new HeaderBag(), null);

/** A meter and a tracer that record everything. */
function observed() {
  const counted: string[] = [];
  const spans: string[] = [];
  const counter = (name: string) => ({
    add: (_value: number, { route: _route, backend: _backend, ...rest }: Record<string, unknown> = {}) =>
      void counted.push(`${name} ${Object.values(rest).join()}`),
  });
  const meter = { counter, upDownCounter: counter, histogram: () => ({ record() {} }) };
  const tracer = {
    start: (call: Call, name: string, attributes?: object): ActiveSpan => {
      spans.push(`${name} ${JSON.stringify(attributes)}`);
      return {
        call,
        set() {},
        event() {},
        fail: (reason) => void spans.push(`failed ${reason}`),
        end: () => void spans.push('ended'),
      };
    },
  };
  return { counted, spans, offers: [offer(meters, meter), offer(tracers, tracer)] };
}

describe('backend/retry', () => {
  const send = async (config: object, next: Step<PipeRequest>, around: HarnessOptions = {}, request: object = {}) => {
    const harness = await openHarness(plugin, 'backend', { ...atOnce, ...config }, { next, ...around });
    try {
      return await harness.send(
        'match' in request ? (request as never) : ({ method: 'GET', path: '/', ...request } as never),
      );
    } finally {
      deepEqual(await harness.close(), { kept: 0, deferred: 0 });
    }
  };

  it('returns the first response if it requires no retry', async () => {
    const { next, calls } = replying(ok200);
    deepEqual([(await send({}, next)).data, calls()], [{ ok: true }, 1]);
  });

  it('repeats a request if a component throws a retriable error or rejects with one', async () => {
    const thrown = replying(
      () => {
        throw reset;
      },
      () => Promise.reject(reset),
      ok200,
    );
    deepEqual([(await send({ attempts: 3 }, thrown.next)).failed, thrown.calls()], [false, 3]);
  });

  it('does not repeat a request after errors of the circuit breaker, of limits or of the gateway itself, or after a cancellation', async () => {
    const errors = [
      new BackendError('CIRCUIT_OPEN', ''),
      new BackendError('RATELIMIT_BACKEND', ''),
      new BackendError('BACKEND_BODY', ''),
      new BackendError('BACKEND_NO_HOSTS', ''),
      new CallError('REQUEST_VALUE_MISSING', ''),
      new CancelledError(),
    ];
    for (const error of errors) {
      const { next, calls } = replying(failed(error));
      await send({ attempts: 5 }, next);
      equal(calls(), 1, error.code);
    }
  });

  it('never counts a canceled attempt as a failure, even if it also fails with a retriable error', async () => {
    const { next, calls } = replying(() => Reply.failed(reset, new CancelledError()));
    const { counted, offers } = observed();
    await send(
      { attempts: 5 },
      (request, call) => {
        call.cancel();
        return next(request, call);
      },
      { offers },
    );
    deepEqual([calls(), counted], [1, []]);
  });

  it('repeats calls with the listed gRPC statuses', async () => {
    const grpc = { backend: { extra_config: { 'backend/grpc': {} } } };
    const cases: [object, number, number][] = [
      [{}, 14, 2],
      [{}, 13, 1],
      [{ grpc_codes: ['INTERNAL'] }, 13, 2],
      [{ grpc_codes: ['INTERNAL'] }, 14, 1],
    ];
    for (const [config, code, expected] of cases) {
      const { next, calls } = replying(failed(new GrpcError(code, '')));
      await send({ ...config, non_idempotent: true }, next, grpc as never);
      equal(calls(), expected);
    }
  });

  it('records retries with their reason, the result, and a span for each', async () => {
    const { next } = replying(failed(reset), status(503), ok200);
    const { counted, spans, offers } = observed();
    await send({ attempts: 3 }, next, { offers });
    deepEqual(counted, ['backend.retries reset', 'backend.retries status', 'backend.retry.results success']);
    deepEqual(spans, [
      'retry {"http.request.resend_count":1,"retry.reason":"reset"}',
      'failed status',
      'ended',
      'retry {"http.request.resend_count":2,"retry.reason":"status"}',
      'ended',
    ]);
  });

  it('records why a request was not repeated', async () => {
    const cases: [string, object, Step<PipeRequest>, object][] = [
      ['attempts', {}, replying(status(503)).next, {}],
      ['method', {}, replying(status(503)).next, { method: 'POST' }],
      ['retry_after', {}, replying(status(503, new HeaderBag(['Retry-After', '9999999999']))).next, {}],
      [
        'deadline',
        { backoff: { base: '9s' }, max_retry_after: '10s' },
        replying(status(503, new HeaderBag(['Retry-After', '5']))).next,
        {},
      ],
      ['budget', { budget: { percent: 0, min_concurrency: 0 } }, replying(status(503)).next, {}],
      ['failure', {}, replying(status(503), failed(new BackendError('CIRCUIT_OPEN', ''))).next, {}],
    ];
    for (const [expected, config, next, request] of cases) {
      const { counted, offers } = observed();
      await send(config, next, { offers }, request);
      deepEqual(counted.at(-1), `backend.retry.results ${expected}`);
    }
  });

  it('does not repeat a body that was streamed', async () => {
    const { counted, offers } = observed();
    const next: Step<PipeRequest> = (request) => {
      (request.body!.take() as { destroy?(): void }).destroy?.();
      return Reply.failed(reset);
    };
    const body = RequestBody.stream(Readable.from([Buffer.from('x')]), undefined);
    await send({}, next, { offers }, makeRequest({ method: 'PUT', body }));
    deepEqual(counted, ['backend.retry.results body']);
  });

  it('releases its share of the budget at the end of each request', async () => {
    const harness = await openHarness(
      plugin,
      'backend',
      { ...atOnce, attempts: 10, budget: { percent: 0, min_concurrency: 1 } },
      {
        next: replying(status(503)).next,
      },
    );
    for (let round = 0; round < 3; round++) equal((await harness.send('GET /')).status, 503);
    await harness.close();
    const counted = replying(status(503));
    await send({ attempts: 10, budget: { percent: 0, min_concurrency: 1 } }, counted.next);
    equal(counted.calls(), 10);
  });

  it('ends an attempt by its timeout even if the component ignores the abort signal, and discards the late response', async () => {
    let late: ((reply: Reply) => void) | undefined;
    let isCancelled = false;
    const { next, calls } = replying(
      () =>
        new Promise((resolve) => {
          late = resolve;
        }),
      ok200,
    );
    deepEqual((await send({ attempt_timeout: '10ms' }, next)).data, { ok: true });
    late!(Reply.raw(200, new HeaderBag(), new ByteStream({ cancel: () => (isCancelled = true) })));
    await until(() => isCancelled);
    equal(calls(), 2);
  });

  it('gives each attempt a copy of the request', async () => {
    const seen: (string | undefined)[] = [];
    const next: Step<PipeRequest> = (request) => {
      seen.push(request.headers.get('x-mark'));
      request.headers.set('X-Mark', 'changed');
      return Reply.failed(reset);
    };
    await send({ attempts: 3 }, next);
    deepEqual(seen, [undefined, undefined, undefined]);
  });

  const codeOf = async (config: unknown, around: object = {}) => {
    try {
      const harness = await openHarness(plugin, 'backend', config, around);
      const { warnings } = harness;
      await harness.close();
      return warnings.map(({ code }) => code).join();
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors[0]!.code;
    }
  };
  const beside = (name: string) => ({ backend: { extra_config: { [name]: {} } } });

  it('is rejected for components whose requests cannot be repeated as a whole', async () => {
    for (const name of ['workflow', 'backend/lambda', 'backend/amqp/producer', 'backend/pubsub/publisher/kafka']) {
      equal(await codeOf({}, beside(name)), 'RETRY_PROTOCOL');
    }
    equal(await codeOf({}, beside('backend/grpc')), 'RETRY_IDEMPOTENT');
  });

  it('is rejected if it has contradictory settings', async () => {
    equal(await codeOf({ backoff: { base: '2s', max: '1s' } }), 'RETRY_BACKOFF');
    equal(await codeOf({ hedge_after: '0s' }), 'RETRY_HEDGE');
    equal(await codeOf({ conditions: [], status_codes: [] }), 'RETRY_NEVER');
  });

  it('warns of settings without effect', async () => {
    equal(await codeOf({ grpc_codes: ['INTERNAL'] }), 'RETRY_IDLE');
    equal(await codeOf({ non_idempotent: true, status_codes: [503] }, beside('backend/grpc')), 'RETRY_IDLE');
    equal(await codeOf({ attempt_timeout: '1h' }), 'RETRY_IDLE');
    equal(await codeOf({}, { endpoint: { concurrent_calls: 3 } }), 'RETRY_IDLE');
    equal(await codeOf({}), '');
  });

  it('is rejected by its schema for hostile settings', async () => {
    const hostile: unknown[] = [
      { attempts: 1e9 },
      { attempts: '3' },
      { attempts: 1.5 },
      { budget: { percent: -1 } },
      { budget: { percent: Number.MAX_SAFE_INTEGER } },
      { status_codes: [200] },
      { status_codes: '503' },
      { conditions: ['toString'] },
      { grpc_codes: ['OK'] },
      { max_body_size: 1e18 },
      { hedge_after: 5 },
      { attempt_timeout: '-1s' },
      [],
      null,
      // Adds a comment: a key that begins with an underscore.
      ...PROTOTYPE_NAMES.filter((name) => name !== '__proto__').map((name) => holding(name, 1)),
    ];
    for (const config of hostile) {
      const code = await codeOf(config);
      ok(/^(?:SCHEMA|DURATION)_/.test(code), `${JSON.stringify(config)}: ${code}`);
    }
  });
});
