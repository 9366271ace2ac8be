import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, get, type ServerResponse } from 'node:http';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';

const program = bundledProgram();
const size = 100_000;

interface Outcome {
  readonly status: number;
  readonly length: number;
}

describe('qos/http-cache with several workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(180_000);
  let backend: TestBackend;
  let gateway: Operations;
  let base: string;
  /** Delayed responses to the first requests; later requests are answered immediately. */
  const held: ServerResponse[] = [];
  const agents: Agent[] = [];

  const answer = (response: ServerResponse) => response.end(JSON.stringify({ size: 'x'.repeat(size) }));

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=600' });
      if (target.startsWith('/held') && callsTo(target) === 1) held.push(response);
      else answer(response);
    });
    const one = { host: [backend.url], extra_config: { 'qos/http-cache': { shared: true } } };
    gateway = await startGateway(
      {
        timeout: '30s',
        endpoints: [
          { endpoint: '/a/{id}', backend: [{ ...one, url_pattern: '/a/{id}' }] },
          { endpoint: '/held/{id}', backend: [{ ...one, url_pattern: '/held/{id}' }] },
          { endpoint: '/soon/{id}', timeout: '8s', backend: [{ ...one, url_pattern: '/held/{id}' }] },
          { endpoint: '/change/{id}', backend: [{ ...one, url_pattern: '/a/{id}', method: 'DELETE' }] },
        ],
      },
      { workers: { count: 3, program, args: [] } },
    );
    base = `http://127.0.0.1:${(await gateway.listen()).port}`;
  });
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.destroy();
    held.length = 0;
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  /** A client that sends its requests over one connection to one worker. */
  function client(): (path: string) => Promise<Outcome> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return (path) =>
      new Promise((resolve, reject) => {
        get(base + path, { agent }, async (response) => {
          let length = 0;
          for await (const chunk of response) length += (chunk as Buffer).length;
          resolve({ status: response.statusCode!, length });
        }).on('error', reject);
      });
  }

  const clients = (count: number) => Array.from({ length: count }, client);
  const isWhole = ({ status, length }: Outcome) => status === 200 && length > size;
  const callsTo = (target: string) =>
    backend.requests.filter((seen) => seen.method === 'GET' && seen.target === target).length;
  const inFlight = () => gateway.processes.countInFlight();
  let attempts = 0;
  /** Repeats a test with another path if the machine was too slow, because a worker waits for others at most 250 ms. */
  const undisturbed = (attempt: (id: string) => Promise<boolean>) => until(() => attempt(`n${++attempts}`));
  /** Twelve clients whose requests wait or are answered; the first one waits for the backend. */
  const allAsking = async (path: string): Promise<readonly Promise<Outcome | null>[]> => {
    let answered = 0;
    const asking = clients(12).map((ask) =>
      ask(path)
        .catch(() => null)
        .finally(() => answered++),
    );
    await until(async () => held.length === 1 && (await inFlight()) + answered === 12);
    return asking;
  };
  const pids = () => gateway.processes.workers.map(({ pid }) => pid!);

  it('shares responses between workers until they are invalidated or purged', async () => {
    const all = clients(9);
    const toAll = async (path: string) => (await Promise.all(all.map((ask) => ask(path)))).every(isWhole);
    await undisturbed(async (id) => {
      const path = `/a/${id}`;
      ok(isWhole(await all[0]!(path)));
      ok(await toAll(path));
      if (callsTo(path) !== 1) return false;

      await all[0]!(`/change/${id}`);
      await until(async () => (await toAll(path)) && callsTo(path) > 1);
      if (callsTo(path) !== 2) return false;

      equal(gateway.emptyCache('http'), true);
      await until(async () => (await toAll(path)) && callsTo(path) > 2);
      ok(await toAll(path));
      return callsTo(path) === 3;
    });
    deepEqual(gateway.caches, ['http']);
  });

  it('calls the backend once for concurrent requests to all workers', async () => {
    const all = clients(60);
    await undisturbed(async (id) => {
      const path = `/held/${id}`;
      const asking = all.map((ask) => ask(path));
      await until(async () => callsTo(path) > 1 || (await inFlight()) === 60);
      answer(held.pop()!);
      ok((await Promise.all(asking)).every(isWhole));
      return callsTo(path) === 1;
    });
  });

  it('lets another worker fetch a response if the fetching worker dies', async () => {
    const asking = await allAsking('/soon/two');
    const before = pids();
    const pid = ownerOf(held[0]!.socket!.remotePort!);
    if (pid === null) return this.ctx.skip();
    process.kill(pid, 'SIGKILL');
    const left = (await Promise.all(asking)).filter((outcome) => outcome !== null);
    ok(left.length > 0 && left.every(isWhole), JSON.stringify(left));
    await until(() => gateway.processes.converged && pids().every((each) => each !== pid) && pids().length === 3);
    ok(pids().some((each) => !before.includes(each)));
  });

  it('continues without the store if a worker does not respond', async () => {
    const asking = await allAsking('/soon/three');
    const pid = ownerOf(held[0]!.socket!.remotePort!);
    if (pid === null) return this.ctx.skip();
    process.kill(pid, 'SIGSTOP');
    const first = await Promise.race(asking);
    process.kill(pid, 'SIGCONT');
    ok(first && isWhole(first));
    answer(held[0]!);
    await Promise.all(asking);
  });

  it('provides stored responses to a new worker', async () => {
    await undisturbed(async (id) => {
      const path = `/a/${id}`;
      ok(isWhole(await client()(path)));
      const before = pids();
      for (const pid of before) {
        process.kill(pid, 'SIGKILL');
        await until(() => gateway.processes.converged && !pids().includes(pid));
      }
      ok(pids().every((pid) => !before.includes(pid)));
      ok((await Promise.all(clients(9).map((ask) => ask(path)))).every(isWhole));
      return callsTo(path) === 1;
    });
  });
});

/** The process at the other end of a connection from this port; null if the system does not report it. */
function ownerOf(port: number): number | null {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  let inode: string | undefined;
  try {
    const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    inode = lines
      .find((line) => line.trim().split(/\s+/)[1]?.endsWith(`:${local}`))
      ?.trim()
      .split(/\s+/)[9];
  } catch {}
  if (inode === undefined) return null;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
      if (links.includes(`socket:[${inode}]`)) return Number(pid);
    } catch {}
  }
  return null;
}
