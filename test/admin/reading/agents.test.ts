import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type AgentSite, type AtAgent, atAgent, definePlugin, meters } from '#contract';
import type { Operations } from '#kernel';
import type { Consuming } from '../../../plugins/async/lib/driver.ts';
import { runAgent } from '../../../plugins/async/lib/run-agent.ts';
import { until } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('GET /v1/agents', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let consuming: Consuming | null;
  let refusal: Error | null;
  let release: () => void;

  const driver = (name: string, attach: (site: AgentSite<unknown>) => AtAgent) =>
    definePlugin({
      name,
      description: 'Consumes a queue in memory.',
      takes: [meters],
      places: [atAgent({ type: 'object', properties: {} }, attach)],
    });
  const queue = driver('test/queue', (site) =>
    runAgent(site, 'memory', () => ({
      async connect(given) {
        if (refusal) throw refusal;
        consuming = given;
        return { ended: new Promise<Error>(() => {}), stop: async () => {}, close: async () => {} };
      },
    })),
  );
  const silent = driver('test/silent', () => ({}));
  const broken = driver('test/broken', () => ({
    status() {
      throw new Error('broken');
    },
  }));

  const agent = (name: string, namespace: string) => ({
    name,
    connection: { backoff_strategy: 'linear', max_retries: 1 },
    consumer: { topic: 'orders', workers: 1 },
    backend: [{ url_pattern: '/hook', method: 'POST' }],
    extra_config: { [namespace]: {} },
  });
  const start = async (...agents: object[]) => {
    gateway = await startWith([queue, silent, broken], { host: [backend.url], async_agent: agents });
    admin = await openReading(gateway);
  };
  const put = (body: string) => consuming!.handle({ body: Buffer.from(body) });
  const read = async () => (await admin.ask('/v1/agents')).body.agents;

  before(async () => {
    backend = await startBackend(({ body }, response) => {
      const end = (status: number) => response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"a":1}');
      if (String(body) === 'held') release = () => end(200);
      else end(String(body) === 'bad' ? 500 : 200);
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    consuming = null;
    refusal = null;
    release = () => {};
  });
  afterEach(async () => {
    release();
    await admin.close();
    await gateway.close();
  });

  it('returns the results of each agent, and where it is configured', async () => {
    await start(agent('orders', 'test/queue'));
    await until(() => consuming !== null);
    await put('good');
    await put('bad');
    consuming!.discarded(2);
    const [{ status, ...rest }] = await read();
    deepEqual(rest, {
      name: 'orders',
      driver: 'test/queue',
      topic: 'orders',
      workers: 1,
      backends: [`POST ${backend.url}/hook`],
      pointer: '/async_agent/0',
    });
    const { since, lastSuccessAt, lastFailure, ...figures } = status;
    deepEqual(figures, {
      state: 'connected',
      retries: 0,
      inProgress: 0,
      waiting: 0,
      lagMs: 0,
      done: 1,
      failed: 1,
      discarded: 2,
    });
    ok(Date.parse(since) <= Date.parse(lastSuccessAt));
    match(lastFailure.message, /^invalid status code 500/);
  });

  it('returns how long the oldest message has waited for a worker', async () => {
    await start(agent('orders', 'test/queue'));
    await until(() => consuming !== null);
    const outcomes = [put('held'), put('good'), put('good')];
    await until(async () => (await read())[0].status.lagMs > 5);
    const [{ status }] = await read();
    deepEqual([status.inProgress, status.waiting], [1, 2]);
    release();
    release = () => {};
    await Promise.all(outcomes);
    const [{ status: after }] = await read();
    deepEqual([after.inProgress, after.waiting, after.lagMs, after.done], [0, 0, 0, 3]);
  });

  it('returns the failed attempts to connect, and that the agent has stopped', async () => {
    refusal = new Error('connection refused');
    await start(agent('orders', 'test/queue'));
    await until(async () => (await read())[0].status.state === 'stopped');
    const [{ status }] = await read();
    deepEqual([status.retries, status.lastFailure.message, status.lastSuccessAt], [2, 'connection refused', null]);
  });

  it('returns no status if the driver reports none, or fails to', async () => {
    await start(agent('silent', 'test/silent'), agent('broken', 'test/broken'));
    deepEqual(
      (await read()).map(({ name, status }: { name: string; status: unknown }) => [name, status]),
      [
        ['silent', null],
        ['broken', null],
      ],
    );
  });

  it('continues the counts over a reload that keeps the source', async () => {
    await start(agent('orders', 'test/queue'));
    await until(() => consuming !== null);
    await put('good');
    await gateway.reload({
      version: 3,
      timeout: '3s',
      host: [backend.url],
      async_agent: [agent('orders', 'test/queue')],
    });
    await put('good');
    equal((await read())[0].status.done, 2);
  });
});
