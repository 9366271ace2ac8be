import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { freePort } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('reload', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  const agent = new Agent({ keepAlive: true });

  /** Two endpoints that return the generation, which would reveal a mix of two generations. */
  const generation = (number: number, extra: object = {}) => ({
    version: 3 as const,
    host: [backend.url],
    endpoints: [
      { endpoint: '/a', backend: [{ url_pattern: `/answer/${number}` }], ...extra },
      {
        endpoint: '/merge',
        backend: [
          { url_pattern: `/answer/${number}`, group: 'x' },
          { url_pattern: `/answer/${number}`, group: 'y' },
        ],
      },
    ],
  });

  const get = async (path: string): Promise<{ status: number; body: string }> => {
    const sent = request({ port, path, agent, host: '127.0.0.1' });
    sent.end();
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode, body };
  };

  beforeEach(async () => {
    backend = await startBackend((seen, response) =>
      json({ generation: Number(seen.target.split('/')[2]) })(seen, response),
    );
    gateway = await startGateway(generation(0));
    ({ port } = await gateway.listen());
  });

  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  after(() => agent.destroy());

  it('serves 200 configurations one after another under load; every request succeeds, and each response comes from one configuration', async function () {
    this.timeout(60_000);
    let stop = false;
    let response = 0;
    const wrong: string[] = [];
    const client = async (path: string) => {
      while (!stop) {
        const { status, body } = await get(path);
        response++;
        const { x, y } = JSON.parse(body || '{}');
        if (status !== 200 || (path === '/merge' && x.generation !== y.generation)) wrong.push(`${status} ${body}`);
      }
    };
    const clients = Array.from({ length: 8 }, (_, at) => client(at % 2 === 0 ? '/a' : '/merge'));
    for (let number = 1; number <= 200; number++) {
      const before = response;
      await gateway.reload(generation(number));
      while (response === before) await new Promise(setImmediate);
    }
    stop = true;
    await Promise.all(clients);
    deepEqual(wrong, []);
    equal(gateway.status.revision, 201);
    equal((await get('/a')).body, '{"generation":200}');
    ok(response >= 200);
  });

  it('releases the memory of old configurations', async function () {
    this.timeout(60_000);
    const heapAfter = async (reloads: number): Promise<number> => {
      for (let number = 0; number < reloads; number++) {
        await gateway.reload(generation(number));
        await get('/a');
      }
      while (gateway.status.draining > 0) await new Promise(setImmediate);
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    await heapAfter(50);
    const settled = await heapAfter(50);
    const later = await heapAfter(150);
    ok(later < settled * 1.05, `heap grew from ${settled} to ${later} bytes`);
  });

  it('lets an old configuration be garbage-collected after its last request', async () => {
    const old = new WeakRef(gateway.config);
    await gateway.reload(generation(1));
    await get('/a');
    const deadline = Date.now() + 20_000;
    while (old.deref() !== undefined && Date.now() < deadline) {
      // The time limit is raised, because garbage collection takes a third of a second after other tests in this
      // process.
      await delay(50);
      collectGarbage();
    }
    equal(old.deref(), undefined);
  });

  it('keeps the counters of a rate limit, even if the limit changes', async () => {
    const limited = (rate: number) =>
      generation(1, { extra_config: { 'qos/ratelimit/router': { max_rate: rate, capacity: rate, every: '10m' } } });
    await gateway.reload(limited(1));
    equal((await get('/a')).status, 200);
    equal((await get('/a')).status, 503);
    await gateway.reload(limited(5));
    equal((await get('/a')).status, 503);
  });

  it('keeps connections to backends with unchanged settings', async () => {
    const ports = new Set<number>();
    const counting = await startBackend((seen, response) => {
      ports.add(response.socket!.remotePort!);
      json({ ok: true })(seen, response);
    });
    const config = (cacheTtl: string) => ({
      version: 3,
      endpoints: [{ endpoint: '/c', cache_ttl: cacheTtl, backend: [{ host: [counting.url], url_pattern: '/' }] }],
    });
    for (let seconds = 1; seconds <= 5; seconds++) {
      await gateway.reload(config(`${seconds}s`));
      equal((await get('/c')).status, 200);
    }
    equal(ports.size, 1);
    await counting.close();
  });

  it('completes a request with the configuration it began with', async () => {
    let release = (): void => {};
    const slow = await startBackend((seen, response) => {
      release = () => json({ from: 'old' })(seen, response);
    });
    await gateway.reload({
      version: 3,
      endpoints: [{ endpoint: '/s', timeout: '10s', backend: [{ host: [slow.url], url_pattern: '/' }] }],
    });
    const pending = get('/s');
    while (slow.requests.length === 0) await new Promise(setImmediate);
    await gateway.reload({
      version: 3,
      endpoints: [{ endpoint: '/s', backend: [{ host: [backend.url], url_pattern: '/answer/9' }] }],
    });
    equal((await get('/s')).body, '{"generation":9}');
    equal(gateway.status.draining, 1);
    release();
    equal((await pending).body, '{"from":"old"}');
    while (gateway.status.draining > 0) await new Promise(setImmediate);
    await slow.close();
  });

  it('rejects an invalid configuration with all its errors and continues to serve the old one', async () => {
    const broken = { version: 3, endpoints: [{ endpoint: 'a', backend: [] }], prot: 1 };
    await rejects(gateway.reload(broken), (error: ConfigErrors) => {
      ok(error instanceof ConfigErrors);
      deepEqual(error.errors.map(({ pointer }) => pointer).sort(), [
        '/endpoints/0/backend',
        '/endpoints/0/endpoint',
        '/prot',
      ]);
      return true;
    });
    equal(gateway.status.revision, 1);
    equal((await get('/a')).body, '{"generation":0}');
  });

  describe('with another port', () => {
    const on = (listenPort: number) => ({ ...generation(1), port: listenPort, listen_ip: '127.0.0.1' });
    const responses = async (listenPort: number): Promise<string> =>
      fetch(`http://127.0.0.1:${listenPort}/a`).then(
        (response) => response.text(),
        () => 'nobody',
      );
    const quiet = { sinks: rememberingSinks() };

    it('opens the new port and closes the old one', async () => {
      const [first, second] = [await freePort(), await freePort()];
      const moving = await createGateway(on(first), quiet);
      await moving.listen();
      await moving.reload(on(second));
      equal(await responses(second), '{"generation":1}');
      while (moving.status.draining > 0) await new Promise(setImmediate);
      equal(await responses(first), 'nobody');
      await moving.close();
    });

    it('is rejected if the port is in use, and releases all resources', async () => {
      const first = await freePort();
      const other = await startBackend(json({}));
      const moving = await createGateway(on(first), quiet);
      await moving.listen();
      await rejects(moving.reload(on(Number(new URL(other.url).port))), /address already in use/);
      equal(moving.status.revision, 1);
      equal(await responses(first), '{"generation":1}');
      await moving.close();
      await other.close();
    });
  });
});
