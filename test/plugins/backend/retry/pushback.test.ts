import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { Metadata, status } from '@grpc/grpc-js';
import { type PipeRequest, Reply, type Step } from '#contract';
import type { Operations } from '#kernel';
import { plugin } from '../../../../plugins/backend/retry/index.ts';
import { GrpcError } from '../../../../plugins/engines/grpc/status.ts';
import { startGateway } from '../../../support/gateway.ts';
import { SHOP, startGrpc, type TestGrpcServer } from '../../../support/grpc/server.ts';
import { openHarness } from '../../../support/harness.ts';

describe('backend/retry with a gRPC server', () => {
  const gateways: Operations[] = [];
  const servers: TestGrpcServer[] = [];
  let demands: (string | null)[];

  /** A server whose calls fail with these values of `grpc-retry-pushback-ms`, one after another, and then succeed. */
  const startServer = async (): Promise<TestGrpcServer> => {
    const server = await startGrpc({
      Find(_call, answer) {
        if (demands.length === 0) return answer(null, { id: 'x' });
        const metadata = new Metadata();
        const demand = demands.shift()!;
        if (demand !== null) metadata.set('grpc-retry-pushback-ms', demand);
        answer({ name: '', message: '', code: status.UNAVAILABLE, details: 'busy', metadata });
      },
    });
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    mock.timers.reset();
    for (const gateway of gateways.splice(0)) await gateway.close();
    for (const server of servers.splice(0)) await server.close();
  });

  /** Status of a request, and the number of calls. */
  const call = async (retry: object, hosts = 1): Promise<[number, number]> => {
    const own = await Promise.all(Array.from({ length: hosts }, startServer));
    const backend = {
      host: own.map(({ host }) => host),
      url_pattern: '/shop.Shop/Find',
      extra_config: {
        'backend/grpc': { use_alternate_host_on_error: true },
        'backend/retry': { non_idempotent: true, ...retry },
      },
    };
    gateways.push(
      await startGateway({
        extra_config: { grpc: { catalog: [SHOP] } },
        endpoints: [{ endpoint: '/f', backend: [backend] }],
      }),
    );
    const { statusCode } = await gateways.at(-1)!.inject('/f');
    return [statusCode, own.reduce((sum, { calls }) => sum + calls.length, 0)];
  };

  it('retries after the time that the server demands, instead of the backoff', async () => {
    demands = ['1', '0'];
    deepEqual(await call({ attempts: 3, backoff: { base: '1h' } }), [200, 3]);
  });

  it('retries after the backoff if the server demands no other time', async () => {
    demands = [null];
    deepEqual(await call({ backoff: { base: '0s' } }), [200, 2]);
  });

  for (const [demand, name] of [
    ['-1', '-1'],
    ['soon', 'soon'],
    ['1001', 'more than max_retry_after'],
  ] as const) {
    it(`does not retry if the server pushes back with ${name}`, async () => {
      demands = [demand];
      deepEqual(await call({ attempts: 5, backoff: { base: '0s' } }), [500, 1]);
    });

    it(`does not call another server immediately if one server pushes back with ${name}`, async () => {
      demands = [demand];
      deepEqual(await call({ backoff: { base: '0s' } }, 2), [500, 1]);
    });
  }

  it('sends no hedged request after the server has forbidden retries', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const replies: ((reply: Reply) => void)[] = [];
    const next: Step<PipeRequest> = () => new Promise((resolve) => replies.push(resolve));
    const config = { attempts: 5, hedge_after: '20ms', non_idempotent: true, backoff: { base: '0s' } };
    const harness = await openHarness(plugin, 'backend', config, { next });
    const reply = harness.send('GET /');
    const turns = () => new Promise((resolve) => setImmediate(resolve));
    await turns();
    mock.timers.tick(20);
    await turns();
    equal(replies.length, 2);
    replies[1]!(Reply.failed(new GrpcError(status.UNAVAILABLE, '', true, '-1')));
    await turns();
    mock.timers.tick(10_000);
    await turns();
    equal(replies.length, 2);
    replies[0]!(Reply.data({ ok: true }));
    deepEqual((await reply).data, { ok: true });
    await harness.close();
  });
});
