import { deepEqual, equal } from 'node:assert/strict';
import type Koa from 'koa';
import type { Operations } from '#kernel';
import { watchLoopLag } from '../../../admin/operating/loop-lag.ts';
import type { Admin } from '../../../admin/operation.ts';
import { live } from '../../../admin/operations/health.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('GET /live and GET /ready', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;

  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    gateway = await startGateway({
      endpoints: [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    });
    admin = await openReading(gateway);
  });

  afterEach(async () => {
    await admin.close();
    await gateway.close();
    await backend.close();
  });

  it('reports live while the event loop runs', async () => {
    const { status, body } = await admin.ask('/live');
    deepEqual([status, body], [200, { status: 'ok' }]);
  });

  it('reports not ready before the gateway listens', async () => {
    const { status, body } = await admin.ask('/ready');
    deepEqual([status, body], [503, { status: 'error', reasons: ['not listening'] }]);
  });

  it('reports ready once the gateway listens', async () => {
    await gateway.listen();
    const { status, body } = await admin.ask('/ready');
    deepEqual([status, body], [200, { status: 'ok' }]);
  });

  it('reports ready after a rejected configuration', async () => {
    await gateway.listen();
    await gateway.reload({ version: 3, endpoints: 7 }).catch(() => {});
    equal((await admin.ask('/ready')).status, 200);
  });

  it('reports not ready while the gateway drains', async () => {
    await gateway.listen();
    await admin.send('POST', '/v1/drain');
    const { status, body } = await admin.ask('/ready');
    deepEqual([status, body], [503, { status: 'error', reasons: ['draining'] }]);
  });

  it('reports not ready while the gateway closes', async () => {
    await gateway.listen();
    await gateway.close();
    equal((await admin.ask('/ready')).status, 503);
  });
});

describe('GET /live with a slow event loop', () => {
  for (const [ms, status] of [
    [5_000, 200],
    [5_001, 503],
  ] as const) {
    it(`answers ${status} if the loop is ${ms} ms late`, () => {
      const ctx = {} as Koa.Context;
      live.handle(ctx, { operating: { loopLag: { ms } } } as Admin);
      equal(ctx.status, status);
    });
  }
});

describe('GET /ready of a gateway with workers', () => {
  it('reports ready once a worker serves, and no configuration before that', async () => {
    const gateway = await startGateway(
      { endpoints: [] },
      { workers: { count: 1, program: bundledProgram(), args: [] } },
    );
    const admin = await openReading(gateway);
    try {
      equal((await admin.ask('/ready')).status, 503);
      await gateway.listen();
      equal((await admin.ask('/ready')).status, 200);
    } finally {
      await admin.close();
      await gateway.close();
    }
  });
});

describe('the lag of the event loop', () => {
  /** An event loop that a test can block. */
  function blockable() {
    let now = 0;
    let due: () => void = () => {};
    return {
      timers: {
        now: () => now,
        after: (_ms: number, run: () => void) => {
          due = run;
          return () => {
            due = () => {};
          };
        },
      },
      pass: (ms: number) => {
        now += ms;
      },
      turn: () => due(),
    };
  }

  it('is zero while timers run on time', () => {
    const loop = blockable();
    const lag = watchLoopLag(loop.timers);
    loop.pass(500);
    loop.turn();
    equal(lag.ms, 0);
  });

  it('is reported before the late timer has run', () => {
    const loop = blockable();
    const lag = watchLoopLag(loop.timers);
    loop.pass(6_500);
    equal(lag.ms, 6_000);
  });

  it('is reported after the late timer has run', () => {
    const loop = blockable();
    const lag = watchLoopLag(loop.timers);
    loop.pass(6_500);
    loop.turn();
    equal(lag.ms, 6_000);
  });

  it('is reset by the next timer that runs on time', () => {
    const loop = blockable();
    const lag = watchLoopLag(loop.timers);
    loop.pass(6_500);
    loop.turn();
    loop.pass(500);
    loop.turn();
    equal(lag.ms, 0);
  });
});
