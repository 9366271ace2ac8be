import { deepEqual, equal } from 'node:assert/strict';
import { BackendError, type PipeRequest, Reply, refuse, type Services, type Step } from '#contract';
import type { Operations } from '#kernel';
import { plugin } from '../../../plugins/proxy/index.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { rememberingLog } from '../../support/log.ts';
import { refusalsOf } from '../../support/modules.ts';
import { messages, noting, over, refusal, responses, skipped } from './around.ts';

type Backend = Step<PipeRequest>;

const failing =
  (message: string): Backend =>
  () =>
    Reply.failed(new BackendError('BACKEND_STATUS', message));
const harness = (backends: readonly Backend[], config: object = {}) =>
  openHarness(plugin, 'endpoint', { strategy: 'fallback', ...config }, over(backends));
const send = async (backends: readonly Backend[]) => (await harness(backends)).send('GET /');

describe('the strategy "fallback" of proxy', () => {
  it('returns the first response without calling the other backends', async () => {
    const seen: PipeRequest[] = [];
    const reply = await send([responses('{"a":1}'), noting(seen, responses('{"b":2}'))]);
    deepEqual([reply.data, reply.complete, seen.length], [{ a: 1 }, true, 0]);
  });

  it('fails with the errors of all backends if all fail', async () => {
    const reply = await send([failing('one'), failing('two'), failing('three')]);
    equal(reply.failed, true);
    deepEqual(messages(reply), ['one', 'two', 'three']);
  });

  it('treats incomplete and rejected responses as failures', async () => {
    for (const first of [() => Reply.data({ a: 1 }, false), () => refuse(403)]) {
      const reply = await send([first, responses('{"b":2}')]);
      deepEqual([reply.data, reply.status, reply.complete, messages(reply)], [{ b: 2 }, 200, true, []]);
    }
  });

  it('treats an exception as a failure', async () => {
    const broken: Backend = () => {
      throw new Error('broken');
    };
    deepEqual((await send([broken, responses('{"b":2}')])).data, { b: 2 });
  });

  it('calls no other backend once the request has ended, and reports no backend as failed', async () => {
    const log = rememberingLog();
    const seen: PipeRequest[] = [];
    const leaving: Backend = (_request, call) =>
      new Promise(() => {
        setImmediate(() => call.cancel());
      });
    const backends = over([leaving, noting(seen, responses('{"b":2}'))]);
    const around = { ...backends, services: { log } as unknown as Services };
    await (await openHarness(plugin, 'endpoint', { strategy: 'fallback' }, around)).send('GET /');
    deepEqual([seen.length, log.lines], [0, []]);
  });

  it('ignores backends whose condition is not met', async () => {
    const reply = await send([failing('one'), skipped, responses('{"c":3}')]);
    deepEqual([reply.data, reply.complete], [{ c: 3 }, true]);
    deepEqual(messages(await send([failing('one'), skipped])), ['one']);
    const none = await send([skipped, skipped]);
    deepEqual([none.data, none.complete, none.failed], [{}, false, false]);
  });

  it('logs the error of a backend whose response another backend replaces', async () => {
    const log = rememberingLog();
    const around = { ...over([failing('one'), responses('{"b":2}')]), services: { log } as unknown as Services };
    await (await openHarness(plugin, 'endpoint', { strategy: 'fallback' }, around)).send('GET /');
    deepEqual(log.lines, ['WARNING [Fallback] backend 0 failed: one']);
  });

  it('rejects propagated parameters', async () => {
    const config = { sequential_propagated_params: ['resp0_a'], sequential: true };
    deepEqual(await refusal(harness([responses('{}'), responses('{}')], config)), [
      '/sequential_propagated_params PROXY_PROPAGATED',
    ]);
  });
});

describe('the strategy "fallback" of proxy', () => {
  let down: TestBackend;
  let up: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    down = await startBackend((_request, response) => response.writeHead(503).end());
    up = await startBackend(json({ id: 7 }));
  });
  after(async () => {
    await down.close();
    await up.close();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const pipe = (path: string) => ({
    endpoint: path,
    method: 'POST',
    extra_config: { proxy: { strategy: 'fallback' } },
    backend: [
      { url_pattern: '/first', host: [down.url] },
      { url_pattern: '/second', host: [up.url] },
      { url_pattern: '/third', host: [up.url] },
    ],
  });
  const start = async (endpoint: object): Promise<Operations> => {
    gateway = await startGateway({ version: 4, endpoints: [endpoint] });
    return gateway;
  };

  it('calls the next backend, with the body of the request, if one fails', async () => {
    await start(pipe('/a'));
    const response = await gateway!.inject({ url: '/a', method: 'POST', payload: '{"x":1}' });
    deepEqual([response.statusCode, response.json()], [200, { id: 7 }]);
    deepEqual(
      up.requests.map(({ target, body }) => [target, String(body)]),
      [['/second', '{"x":1}']],
    );
  });

  it('provides no earlier responses to later backends', async () => {
    const { backend, ...rest } = pipe('/a');
    const refused = start({ ...rest, backend: [backend[1], { ...backend[2], url_pattern: '/{resp0_id}' }] });
    deepEqual(
      (await refusalsOf(refused)).map(({ code }) => code),
      ['ROUTE_PLACEHOLDER'],
    );
  });

  it('overrides the default of pipes within components, which is sequential', async () => {
    const count = up.requests.length;
    const { method: _method, ...inner } = pipe('/inner');
    await start({
      endpoint: '/w',
      method: 'POST',
      backend: [{ url_pattern: '/', host: [down.url], extra_config: { workflow: inner } }],
    });
    deepEqual((await gateway!.inject({ url: '/w', method: 'POST' })).json(), { id: 7 });
    equal(up.requests.length - count, 1);
  });
});
