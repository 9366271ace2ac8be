import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { type PipeRequest, Reply, type Step } from '#contract';
import { concurrently } from '../../../kernel/pipeline/backend/concurrent.ts';
import { parallel } from '../../../kernel/pipeline/response/merge.ts';
import { until } from '../../support/conditions.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { newCall, pipeRequest } from './requests.ts';

const never: Step<PipeRequest> = () => new Promise<Reply>(() => {});

describe('deadlines within a request', () => {
  it('end concurrent calls before the merge, and the merge before the endpoint', async () => {
    const order: string[] = [];
    const T = 200;
    const call = newCall(T);
    const ended = new Promise<void>((resolve) => {
      call.onCancel(() => {
        order.push('endpoint');
        resolve();
      });
    });
    void Promise.resolve(parallel([never, never], undefined, T)(pipeRequest(), call)).then(() => order.push('merge'));
    void Promise.resolve(concurrently(2, never, T)(pipeRequest(), call)).then(() => order.push('concurrent'));
    await ended;
    deepEqual(order, ['concurrent', 'merge', 'endpoint']);
  });

  it("limit concurrent calls within a merge to a share of the whole timeout, not of the merge's timeout", async () => {
    const order: string[] = [];
    const T = 200;
    const section: Step<PipeRequest> = async (request, call) => {
      const reply = await concurrently(2, never, T)(request, call);
      order.push('concurrent');
      return reply;
    };
    setTimeout(() => order.push('70 %'), 0.7 * T);
    const merged = parallel([section, () => Reply.data({ a: 1 })], undefined, T)(pipeRequest(), newCall(T));
    equal((await merged).complete, false);
    deepEqual(order, ['70 %', 'concurrent']);
  });

  describe('with backends that never answer', () => {
    let silent: TestBackend;
    let closed: number;

    beforeEach(async () => {
      closed = 0;
      silent = await startBackend((_seen, response) => response.on('close', () => closed++));
    });

    afterEach(() => {
      mock.timers.reset();
      return silent.close();
    });

    it('close the connections to late backends', async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const gateway = await startGateway({
        endpoints: [
          {
            endpoint: '/x',
            timeout: '60s',
            backend: [
              { host: [silent.url], url_pattern: '/' },
              { host: [silent.url], url_pattern: '/' },
            ],
          },
        ],
      });
      const asked = gateway.inject('/x');
      await until(() => silent.requests.length === 2);
      mock.timers.tick(60_000);
      equal((await asked).statusCode, 500);
      await until(() => closed === 2);
      await gateway.close();
    });

    it("are only shortened by a backend's own timeout", async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const status = async (path: string) => (await gateway.inject(path)).statusCode;
      const backend = (timeout: string, group: string) => ({ host: [silent.url], url_pattern: `/${group}`, timeout });
      const gateway = await startGateway({
        endpoints: [
          { endpoint: '/short', timeout: '20s', backend: [backend('10s', 'short')] },
          { endpoint: '/long', timeout: '10s', backend: [backend('20s', 'long')] },
        ],
      });
      for (const path of ['/short', '/long']) {
        const before = silent.requests.length;
        const asked = status(path);
        await until(() => silent.requests.length > before);
        mock.timers.tick(10_000);
        equal(await asked, 500);
      }
      await gateway.close();
    });

    it('produce a response even if a stage ignores them', async () => {
      const gateway = await startPlugged(
        {
          endpoints: [
            {
              endpoint: '/x',
              timeout: '50ms',
              backend: [{ host: [silent.url], url_pattern: '/', extra_config: { test: { act: 'hang' } } }],
            },
          ],
        },
        { backend: { hang: { backend: () => never } } },
      );
      const response = await gateway.inject('/x');
      deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [500, '', 'false']);
      await gateway.close();
    });

    it('produce a response with the available parts even if a stage ignores them', async () => {
      const gateway = await startPlugged(
        {
          endpoints: [
            {
              endpoint: '/x',
              timeout: '50ms',
              backend: [
                { host: [silent.url], url_pattern: '/', extra_config: { test: { act: 'quick' } } },
                { host: [silent.url], url_pattern: '/', extra_config: { test: { act: 'hang' } } },
              ],
            },
          ],
        },
        {
          backend: {
            quick: { backend: () => () => Reply.data({ a: 1 }) },
            hang: { backend: () => never },
          },
        },
      );
      const response = await gateway.inject('/x');
      deepEqual(
        [response.statusCode, response.body, response.headers['x-gateway-completed']],
        [200, '{"a":1}', 'false'],
      );
      await gateway.close();
    });

    it('apply to a body that arrives too slowly', async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      let isSent = false;
      const slow = await startBackend((_seen, response) => {
        response.on('close', () => closed++);
        response.write('{"a":', () => {
          isSent = true;
        });
      });
      const gateway = await startGateway({
        endpoints: [{ endpoint: '/x', timeout: '60s', backend: [{ host: [slow.url], url_pattern: '/' }] }],
      });
      const asked = gateway.inject('/x');
      await until(() => isSent);
      mock.timers.tick(60_000);
      equal((await asked).statusCode, 500);
      await until(() => closed === 1);
      await gateway.close();
      await slow.close();
    });
  });

  it('are inherited from the service', async () => {
    const gateway = await startGateway({
      timeout: '7s',
      host: ['http://h'],
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }] }],
    });
    equal(gateway.config.endpoints[0]!.timeout, 7000);
    ok(gateway.config.endpoints[0]!.backend[0]!.timeout === undefined);
    await gateway.close();
  });
});
