import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Operations, Participant, WorkerInfo } from '#kernel';
import type { GatewayOptions } from '../../../kernel/sluice.ts';
import { freePort, until } from '../../support/conditions.ts';
import {
  json,
  partsOf,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';

const program = bundledProgram();

describe('worker processes', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(180_000);
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  async function backend(...response: Parameters<typeof json>): Promise<TestBackend> {
    const started = await startBackend(json(...response));
    open.push(started);
    return started;
  }

  async function start(
    config: object,
    count = 2,
    options: GatewayOptions = {},
  ): Promise<{ gateway: Operations; url: string }> {
    const gateway = await startGateway(config, { workers: { count, program, args: [] }, ...options });
    open.push(gateway);
    const { port } = await gateway.listen();
    return { gateway, url: `http://127.0.0.1:${port}` };
  }

  function endpoint(path: string, { url }: TestBackend, more: object = {}): object {
    return { endpoint: path, backend: [{ host: [url], url_pattern: '/' }], ...more };
  }

  it('serve requests, which the primary process does not', async () => {
    const { gateway, url } = await start({ endpoints: [endpoint('/a', await backend({ ok: 1 }))] });
    deepEqual(await (await fetch(`${url}/a`)).json(), { ok: 1 });
    equal(partsOf(gateway).generations.requests, 0);
    equal(partsOf(gateway).generations.address, null);
  });

  it('are observed together', async () => {
    const limit = { extra_config: { 'qos/ratelimit/router': { max_rate: 100 } } };
    const { gateway, url } = await start({ endpoints: [endpoint('/a', await backend({ ok: 1 }), limit)] });
    const id = 'GET /a';
    equal((await gateway.processes.observe(id)).length, 2);
    const seen = new Set<number>();
    // Connections are distributed among the workers.
    await until(async () => {
      await (await fetch(`${url}/a`, { headers: { connection: 'close' } })).text();
      for (const { pid, requests } of await gateway.processes.observe(id)) {
        for (const { status, sample } of requests) {
          if (status === 200 && (sample?.times?.pipeUs ?? 0) > 0) seen.add(pid);
        }
      }
      return seen.size === 2;
    });
    ok(!seen.has(process.pid));
    const [part] = await gateway.processes.observe(id);
    deepEqual(part!.states, [], 'the limit belongs to the primary process');
    gateway.processes.unobserve(id);
    await (await fetch(`${url}/a`)).text();
    const again = await gateway.processes.observe(id);
    equal(
      again.reduce((sum, { finished }) => sum + finished, 0),
      0,
    );
    deepEqual(await gateway.processes.observe('GET /missing'), []);
  });

  it('all serve the new configuration once the change is answered', async () => {
    const [one, two] = [await backend({ of: 1 }), await backend({ of: 2 })];
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] }, 3);
    await gateway.reload({ version: 3, endpoints: [endpoint('/a', two)] });
    const responses = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const response = await fetch(`${url}/a`, { headers: { connection: 'close' } });
        return ((await response.json()) as { of: number }).of;
      }),
    );
    deepEqual([...new Set(responses)], [2]);
    await until(() => gateway.processes.converged);
    deepEqual(
      gateway.processes.workers.map(({ revision, state }) => ({ revision, state })),
      Array(3).fill({ revision: 2, state: 'up' }),
    );
  });

  it('keep the old configuration if one of them rejects the new one', async () => {
    const one = await backend({ of: 1 });
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] });
    await rejects(gateway.reload({ version: 3, endpoints: [endpoint('/a', one, { timeout: 'soon' })] }), /timeout/);
    equal(gateway.status.revision, 1);
    equal((await fetch(`${url}/a`)).status, 200);
  });

  it('reject a port in use, and continue to serve', async () => {
    const one = await backend({ of: 1 });
    const gateway = await startGateway(
      { endpoints: [endpoint('/a', one)], port: await freePort() },
      { workers: { count: 2, program, args: [] }, port: undefined as never },
    );
    open.push(gateway);
    const { port } = await gateway.listen();
    const taken = Number(new URL(one.url).port);
    await rejects(
      gateway.reload({ version: 3, listen_ip: '127.0.0.1', port: taken, endpoints: [endpoint('/a', one)] }),
      (error: { errors: { code: string; pointer: string }[] }) => {
        deepEqual(
          error.errors.map(({ code, pointer }) => ({ code, pointer })),
          [{ code: 'LISTENER_BIND', pointer: '/port' }],
        );
        return true;
      },
    );
    equal((await fetch(`http://127.0.0.1:${port}/a`)).status, 200);
  });

  it('all listen on a new port after a change of port, and the result of the change contains the new address', async () => {
    const one = await backend({ of: 1 });
    const [first, second] = [await freePort(), await freePort()];
    const config = (port: number) => ({ listen_ip: '127.0.0.1', port, endpoints: [endpoint('/a', one)] });
    const gateway = await startGateway(config(first), {
      workers: { count: 2, program, args: [] },
      port: undefined as never,
    });
    open.push(gateway);
    await gateway.listen();
    const { rebound } = await gateway.reload({ version: 3, ...config(second) });
    deepEqual(rebound, [`127.0.0.1:${second}`]);
    equal((await fetch(`http://127.0.0.1:${second}/a`)).status, 200);
  });

  it('are replaced with the active configuration when they die', async () => {
    const [one, two] = [await backend({ of: 1 }), await backend({ of: 2 })];
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] });
    await gateway.reload({ version: 3, endpoints: [endpoint('/a', two)] });
    const [first] = gateway.processes.workers;
    process.kill(first!.pid!, 'SIGKILL');
    await until(() => {
      const [now] = gateway.processes.workers;
      return now!.pid !== first!.pid && now!.state === 'up' && now!.revision === 2;
    });
    for (let at = 0; at < 6; at++) {
      const response = await fetch(`${url}/a`, { headers: { connection: 'close' } });
      deepEqual(await response.json(), { of: 2 });
    }
  });

  it('keep a free port while each is replaced', async () => {
    const config = { listen_ip: '127.0.0.1', port: 0, endpoints: [] };
    const { gateway, url } = await start(config);
    await gateway.reload({ version: 3, name: 'other', ...config });
    const before = gateway.processes.workers.map(({ pid }) => pid!);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await until(() => gateway.processes.workers.every(({ pid, state }) => state === 'up' && !before.includes(pid!)));
    for (let at = 0; at < 6; at++) {
      equal((await fetch(`${url}/__health`, { headers: { connection: 'close' } })).status, 200);
    }
  });

  it('that die between prepare and commit delay the response until their replacements serve', async () => {
    const [one, two] = [await backend({ of: 1 }), await backend({ of: 2 })];
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] });
    const [first] = gateway.processes.workers;
    partsOf(gateway).control.participants.unshift({
      prepare: async () => ({ commit: () => void process.kill(first!.pid!, 'SIGKILL'), abort() {} }),
    });
    await gateway.reload({ version: 3, endpoints: [endpoint('/a', two)] });
    const [now] = gateway.processes.workers;
    ok(now!.pid !== first!.pid);
    equal(now!.state, 'up');
    for (let at = 0; at < 6; at++) {
      const response = await fetch(`${url}/a`, { headers: { connection: 'close' } });
      deepEqual(await response.json(), { of: 2 });
    }
  });

  for (const [when, isSo] of Object.entries({
    'are being replaced': ({ state }: WorkerInfo) => state === 'starting',
    'have already been replaced': ({ state, revision }: WorkerInfo) => state === 'up' && revision === 1,
  })) {
    it(`that die after prepare, and ${when} during commit, are replaced with the new configuration`, async () => {
      const [one, two] = [await backend({ of: 1 }), await backend({ of: 2 })];
      const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] });
      const pool = gateway.processes;
      const [first] = pool.workers;
      around(gateway, {
        async prepared() {
          process.kill(first!.pid!, 'SIGKILL');
          await until(() => pool.workers[0]!.pid !== first!.pid && isSo(pool.workers[0]!));
        },
      });
      await gateway.reload({ version: 3, endpoints: [endpoint('/a', two)] });
      const [now] = pool.workers;
      deepEqual([now!.state, now!.revision], ['up', 2]);
      for (let at = 0; at < 6; at++) {
        const response = await fetch(`${url}/a`, { headers: { connection: 'close' } });
        deepEqual(await response.json(), { of: 2 });
      }
    });
  }

  it('that fail to commit are updated again, with a log line', async () => {
    const failing = bundledProgram('worker-failing-commit');
    const [one, two] = [await backend({ of: 1 }), await backend({ of: 2 })];
    const sinks = rememberingSinks();
    const workers = { count: 1, program: failing, args: [] };
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] }, 1, { workers, sinks });
    const [first] = gateway.processes.workers;
    await gateway.reload({ version: 3, endpoints: [endpoint('/a', two)] });
    deepEqual(await (await fetch(`${url}/a`)).json(), { of: 2 });
    equal(gateway.processes.workers[0]!.pid, first!.pid);
    ok(sinks.lines.some((line) => /ERROR.*worker 1 did not switch to the new revision.*the swap failed/.test(line)));
  });

  it('that die during prepare reject the change for all', async () => {
    const one = await backend({ of: 1 });
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one)] });
    const [first] = gateway.processes.workers;
    partsOf(gateway).control.participants.unshift({
      prepare: async () => {
        process.kill(first!.pid!, 'SIGKILL');
        return { commit() {}, abort() {} };
      },
    });
    await rejects(gateway.reload({ version: 3, name: 'x', endpoints: [endpoint('/a', one)] }), { slug: 'timeout' });
    equal(gateway.status.revision, 1);
    await until(() => gateway.processes.converged && gateway.processes.workers[0]!.pid !== first!.pid);
    equal((await fetch(`${url}/a`)).status, 200);
  });

  it('share one rate limit, regardless of connections', async () => {
    const limit = { 'qos/ratelimit/router': { max_rate: 0.001, capacity: 10 } };
    const { url } = await start({ endpoints: [endpoint('/a', await backend({ ok: 1 }), { extra_config: limit })] }, 3);
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await fetch(`${url}/a`, { headers: { connection: 'close' } })).status),
    );
    equal(statuses.filter((status) => status === 200).length, 10);
    equal(statuses.filter((status) => status === 503).length, 20);
  });

  it('share a limit per client, over a reload and the death of a worker', async () => {
    const limit = { 'qos/ratelimit/router': { client_max_rate: 0.001, client_capacity: 5, strategy: 'ip' } };
    const one = await backend({ ok: 1 });
    const config = { endpoints: [endpoint('/a', one, { extra_config: limit })] };
    const { gateway, url } = await start(config);
    const send = async () => (await fetch(`${url}/a`, { headers: { connection: 'close' } })).status;
    deepEqual([await send(), await send(), await send()], [200, 200, 200]);
    await gateway.reload({ version: 3, name: 'other', ...config });
    deepEqual([await send()], [200]);
    const [first] = gateway.processes.workers;
    process.kill(first!.pid!, 'SIGKILL');
    await until(() => gateway.processes.workers[0]!.pid !== first!.pid && gateway.processes.converged);
    deepEqual([await send(), await send()], [200, 429]);
  });

  it('that still serve an old configuration keep its rate limit, even if the new configuration has none', async () => {
    const limit = { 'qos/ratelimit/router': { max_rate: 0.001, capacity: 2 } };
    const one = await backend({ ok: 1 });
    const { gateway, url } = await start({ endpoints: [endpoint('/a', one, { extra_config: limit })] });
    const send = async () => (await fetch(`${url}/a`, { headers: { connection: 'close' } })).status;
    const before: number[] = [];
    around(gateway, {
      async committing() {
        for (let at = 0; at < 3; at++) before.push(await send());
      },
    });
    await gateway.reload({ version: 3, endpoints: [endpoint('/a', one)] });
    deepEqual(before, [200, 200, 503]);
    deepEqual([await send(), await send(), await send()], [200, 200, 200]);
    await until(() => gateway.status.draining === 0);
  });

  it('report their traffic', async () => {
    const { gateway, url } = await start({ endpoints: [endpoint('/a', await backend({ ok: 1 }))] });
    for (let at = 0; at < 5; at++) await (await fetch(`${url}/a`)).text();
    const [route] = gateway.serving.compiled.routes;
    await until(() => route!.traffic.calls === 5);
    equal(
      gateway.processes.workers.reduce((sum, { requests }) => sum + requests, 0),
      5,
    );
  });

  it('exit when the gateway closes, after completing their responses', async () => {
    let respond: (() => void) | undefined;
    const slow = await startBackend((_seen, response) => {
      respond = () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"late":true}');
    });
    open.push(slow);
    const { gateway, url } = await start({ endpoints: [endpoint('/a', slow, { timeout: '20s' })] });
    const pids = gateway.processes.workers.map(({ pid }) => pid!);
    const response = fetch(`${url}/a`);
    await until(() => respond !== undefined);
    equal(await gateway.processes.countInFlight(), 1);
    const closed = gateway.close();
    respond!();
    deepEqual(await (await response).json(), { late: true });
    await closed;
    for (const pid of pids) ok(!isAlive(pid));
  });
});

/** Runs a function between two steps that all workers of a gateway complete together. */
function around(
  gateway: Operations,
  { prepared, committing }: Partial<Record<'prepared' | 'committing', () => Promise<void>>>,
) {
  const { participants } = partsOf(gateway).control;
  const [pool] = participants as [Participant];
  participants[0] = {
    async prepare(next) {
      const ready = await pool.prepare(next);
      await prepared?.();
      const commit = async () => {
        await committing?.();
        return ready.commit();
      };
      return { ...ready, commit };
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
