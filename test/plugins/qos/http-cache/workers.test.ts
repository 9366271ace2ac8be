import { deepEqual, equal, ok } from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const program = fileURLToPath(new URL('../../../support/worker.ts', import.meta.url));

describe('the http cache of several workers', function () {
  // They are processes, which take their time to start on a busy machine.
  this.timeout(60_000);
  let backend: TestBackend;
  let gateway: Operations;
  let base: string;
  const agents: Agent[] = [];

  before(async () => {
    backend = await startBackend(({ method }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=600' });
      response.end(JSON.stringify({ method, size: 'x'.repeat(100_000) }));
    });
    const one = { host: [backend.url], extra_config: { 'qos/http-cache': { shared: true } } };
    gateway = await startGateway(
      {
        endpoints: [
          { endpoint: '/a/{id}', backend: [{ ...one, url_pattern: '/a/{id}' }] },
          { endpoint: '/change/{id}', backend: [{ ...one, url_pattern: '/a/{id}', method: 'DELETE' }] },
        ],
      },
      { workers: { count: 2, program, args: [] } },
    );
    base = `http://127.0.0.1:${(await gateway.listen()).port}`;
  });
  after(async () => {
    for (const agent of agents) agent.destroy();
    await gateway.close();
    await backend.close();
  });

  /** A client whose requests go over one connection, to one worker. */
  function client(): (path: string) => Promise<number> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return (path) =>
      new Promise((resolve, reject) => {
        get(base + path, { agent }, async (response) => {
          let length = 0;
          for await (const chunk of response) length += (chunk as Buffer).length;
          resolve(length);
        }).on('error', reject);
      });
  }

  const callsTo = (target: string) =>
    backend.requests.filter((seen) => seen.method === 'GET' && seen.target === target);

  it('is one: what one worker has fetched all of them have, until it is changed or emptied', async () => {
    const clients = Array.from({ length: 6 }, client);
    const all = async (path: string) =>
      (await Promise.all(clients.map((ask) => ask(path)))).every((length) => length > 100_000);
    ok(await clients[0]!('/a/1'));
    await until(async () => {
      const before = callsTo('/a/1').length;
      return (await all('/a/1')) && callsTo('/a/1').length === before;
    });
    ok(callsTo('/a/1').length <= 2, `${callsTo('/a/1').length} calls`);

    const before = callsTo('/a/1').length;
    await clients[0]!('/change/1');
    await until(async () => (await all('/a/1')) && callsTo('/a/1').length > before);

    await all('/a/1');
    const settled = callsTo('/a/1').length;
    equal(gateway.emptyCache('http'), true);
    await until(async () => (await all('/a/1')) && callsTo('/a/1').length > settled);
    deepEqual(gateway.caches, ['http']);
  });
});
