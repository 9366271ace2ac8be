import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('the traffic of a gateway', () => {
  let backend: TestBackend;
  let failing: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let origin: string;

  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    failing = await startBackend(json({}, 500));
    const endpoint = (path: string, { url }: TestBackend) => {
      return { endpoint: path, backend: [{ host: [url], url_pattern: '/' }] };
    };
    gateway = await startGateway({ endpoints: [endpoint('/good', backend), endpoint('/bad', failing)] });
    const { port } = await gateway.listen();
    origin = `http://127.0.0.1:${port}`;
    admin = await openReading(gateway);
  });

  afterEach(async () => {
    await admin.close();
    await gateway.close();
    await Promise.all([backend.close(), failing.close()]);
  });

  async function call(path: string, times: number): Promise<void> {
    for (let call = 0; call < times; call++) await (await fetch(origin + path)).text();
  }

  async function samples(query = '') {
    const { status, body } = await admin.ask(`/v1/traffic${query}`);
    equal(status, 200);
    return body.samples;
  }

  it('is counted every 10 seconds, by endpoint and status class', async () => {
    await call('/good', 3);
    await call('/bad', 2);
    admin.timers.advance(10_000);
    const { body } = await admin.ask('/v1/traffic');
    equal(body.intervalMs, 10_000);
    const [{ id, durationMs, calls, errors, statuses, p50Ms, p99Ms, connections, rssBytes, endpoints }] = body.samples;
    deepEqual([id, durationMs, calls, errors], [1, 10_000, 5, 2]);
    equal(statuses[body.statusClasses.indexOf('2xx')], 3);
    equal(statuses[body.statusClasses.indexOf('5xx')], 2);
    ok(p50Ms > 0 && p99Ms >= p50Ms && connections > 0 && rssBytes > 1e6);
    deepEqual(
      endpoints.map(({ p99Ms, ...rest }: { p99Ms: number }) => rest),
      [
        { endpoint: 'GET /good', calls: 3, errors: 0 },
        { endpoint: 'GET /bad', calls: 2, errors: 2 },
      ],
    );
  });

  it('is counted once: a sample contains only requests since the previous one', async () => {
    await call('/good', 2);
    admin.timers.advance(10_000);
    await call('/good', 1);
    admin.timers.advance(10_000);
    admin.timers.advance(10_000);
    const all = await samples();
    deepEqual(
      all.map(({ calls }: { calls: number }) => calls),
      [2, 1, 0],
    );
    equal(all[2].p99Ms, null);
    equal((await samples('?after=2')).length, 1);
    equal((await samples('?after=3')).length, 0);
    equal((await samples('?after=300')).length, 3, 'a number from before a restart');
  });

  it('is kept for one hour', async () => {
    for (let sample = 0; sample < 400; sample++) admin.timers.advance(10_000);
    const all = await samples();
    equal(all.length, 360);
    deepEqual([all[0].id, all[359].id], [41, 400]);
  });

  it('is counted by the second only while a client reads it', async () => {
    await call('/good', 1);
    admin.timers.advance(1000);
    deepEqual(await samples('?interval=1s'), [], 'not recorded before the first read');
    await call('/good', 2);
    admin.timers.advance(1000);
    equal((await samples('?interval=1s'))[0].calls, 2, 'without the calls before the first read');
    admin.timers.advance(20_000);
    await call('/good', 1);
    admin.timers.advance(1000);
    deepEqual(await samples('?interval=1s'), [], 'paused after 15 seconds without a read');
  });

  it('cannot be read with an unknown interval', async () => {
    const { status, body } = await admin.ask('/v1/traffic?interval=constructor');
    equal(status, 400);
    ok(body.detail.includes('10s, 1s'));
  });
});
