import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import cluster, { type Worker } from 'node:cluster';
import { mock } from 'node:test';
import { atEndpoint, ConfigError, definePlugin, type Mirror } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { RunningGateway } from '../../../kernel/gateway/start-gateway.ts';
import type { GatewayOptions } from '../../../kernel/index.ts';
import type { Handlers } from '../../../kernel/workers/channel.ts';
import type { Heartbeat } from '../../../kernel/workers/messages.ts';
import type { WorkerPool } from '../../../kernel/workers/worker-pool.ts';
import { until } from '../../support/conditions.ts';
import { partsOf, rememberingSinks } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { TestProcess, turnsUntil } from './lines.ts';

const nothing = { type: 'object', properties: {} } as const;

const quiet: Heartbeat = {
  revision: 1,
  requests: 0,
  calls: 0,
  streams: 0,
  streamsByEndpoint: new Map(),
  held: [],
  aborted: 0,
  headerFaults: 0,
  leaked: 0,
  lostLines: 0,
  loopLagMs: 0,
  connections: 0,
  cpuMs: 0,
  rssBytes: 0,
  heapUsedBytes: 0,
  traffic: [],
  faults: [],
  internalErrors: [],
};

describe('the pool of workers', () => {
  let processes: TestProcess[];
  let responses: Handlers[];
  let gateway: RunningGateway;
  let pool: WorkerPool;
  let list: Mirror<string[], string>;
  const sinks = rememberingSinks();

  /** A component with a list that is mirrored in every process, and a counter in the owner. */
  const shared = definePlugin({
    name: 'test/shared',
    description: 'Has values for all workers.',
    places: [
      atEndpoint(nothing, (site) => {
        list = site.mirror<string[], string>('list', {
          open: () => [],
          apply: (value, change) => void value.push(change),
          snapshot: (value) => value.join(),
        });
        site.share(
          'count',
          () => [0],
          (value, asked: number) => (value[0]! += asked),
        );
        return {};
      }),
    ],
  });

  const config = (name: string) => ({
    version: 3,
    name,
    endpoints: [
      {
        endpoint: '/a',
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
        extra_config: { 'test/shared': {} },
      },
      { endpoint: '/b', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] },
    ],
  });

  beforeEach(async () => {
    processes = [];
    sinks.lines.splice(0);
    responses = [{}, {}];
    mock.method(cluster, 'setupPrimary', () => {});
    mock.method(cluster, 'fork', () => {
      const at = processes.length;
      const started: TestProcess = new TestProcess(100 + at, {
        commit: (revision: number) => ({ revision, rebound: [], port: null }),
        listen: () => ({ host: '::', port: 8000 + at }),
        inFlight: () => at + 1,
        stop: () => started.end(0, null),
        ...responses[at],
      });
      processes.push(started);
      setImmediate(() => started.channel.notify('ready'));
      return started as unknown as Worker;
    });
    await start();
  });
  afterEach(async () => {
    await gateway.close();
    mock.restoreAll();
  });

  async function start(options: GatewayOptions = {}): Promise<void> {
    const workers = { count: 2, program: '/the/program', args: ['worker'] };
    gateway = partsOf(await startWith([shared], config('one'), { workers, sinks, ...options }));
    pool = gateway.processes as WorkerPool;
    await until(() => pool.workers.every(({ state }) => state === 'up'));
  }

  const asked = (name: string) =>
    processes.map(({ orders }) => orders.flatMap(([match, payload]) => (match === name ? [payload] : [])));
  /** Waits until every worker has sent a report. */
  async function heartbeat(...all: Partial<Heartbeat>[]): Promise<void> {
    for (const [at, one] of all.entries()) processes[at]!.channel.notify('heartbeat', { ...quiet, ...one });
    await processes.at(-1)!.channel.ask('snapshot', '');
    await processes[0]!.channel.ask('snapshot', '');
  }

  it('starts its program with arguments and settings', async () => {
    await gateway.close();
    await start({ port: undefined as never, debug: true });
    const setups = (cluster.setupPrimary as unknown as ReturnType<typeof mock.fn>).mock.calls;
    deepEqual(
      setups.map(({ arguments: [given] }) => given),
      [
        { port: 0, debug: false, log: true, plugins: null },
        { port: null, debug: true, log: true, plugins: null },
      ].map((settings) => ({
        exec: '/the/program',
        execArgv: ['--max-semi-space-size=8', ...process.execArgv],
        args: ['worker', JSON.stringify({ ...settings, reports: 4 })],
        serialization: 'advanced',
        stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
      })),
    );
  });

  it('applies a configuration in all workers', async () => {
    deepEqual(asked('commit'), [[1], [1]]);
    await gateway.reload(config('two'));
    const [[first, second]] = asked('prepare') as [{ revision: number; text: string; file: string }[]];
    deepEqual([first!.revision, second!.revision], [1, 2]);
    equal(JSON.parse(second!.text).name, 'two');
    deepEqual(asked('commit'), [
      [1, 2],
      [1, 2],
    ]);
    equal(pool.committed!.revision, 2);
    deepEqual(asked('abort'), [[], []]);
  });

  it('aborts a configuration in all workers if one rejects it', async () => {
    const refusal = new ConfigErrors([new ConfigError('LISTENER_BIND', '/port', 'taken')]);
    Object.assign(processes[1]!.answers, { prepare: () => Promise.reject(refusal) });
    await rejects(gateway.reload(config('two')), /taken/);
    deepEqual(
      [asked('commit'), asked('abort')],
      [
        [[1], [1]],
        [[null], [null]],
      ],
    );
    equal(pool.committed!.revision, 1);
  });

  it('aborts a configuration that a worker does not prepare within two seconds after the next change', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    Object.assign(processes[1]!.answers, { prepare: () => new Promise(() => {}) });
    const hanging = rejects(gateway.reload(config('two')), /canceled because a newer change replaces it/);
    await turnsUntil(() => asked('prepare')[1]!.length === 2);
    Object.assign(processes[1]!.answers, { prepare: () => null, abort: () => new Promise(() => {}) });
    const next = gateway.reload(config('three'));
    mock.timers.tick(2000);
    await hanging;
    mock.timers.reset();
    equal((await next).result, 'applied');
    deepEqual(
      processes.map(({ orders }) => orders.map(([name]) => name).filter((name) => /prepare|abort|commit/.test(name))),
      [1, 2].map(() => ['prepare', 'commit', 'prepare', 'abort', 'prepare', 'commit']),
    );
  });

  it('reports each new address once, and passes its port to the other workers', async () => {
    for (const { answers: given } of processes) {
      Object.assign(given, { commit: (revision: number) => ({ revision, rebound: [':1', ':2'], port: 1 }) });
    }
    deepEqual((await gateway.reload(config('two'))).rebound, [':1', ':2']);
    equal(pool.port, 1);
    for (const { answers: given } of processes) {
      Object.assign(given, { commit: (revision: number) => ({ revision, rebound: [], port: null }) });
    }
    await gateway.reload(config('three'));
    equal(pool.port, 1);
  });

  it('opens the port in all workers', async () => {
    deepEqual([pool.listens, pool.port], [false, null]);
    const address = { host: '::', port: 0 };
    deepEqual(await gateway.listen(address), { host: '::', port: 8000 });
    const target = { known: null, address };
    deepEqual([pool.listens, pool.port, asked('listen')], [true, 8000, [[target], [target]]]);
    processes[0]!.end(1, null);
    await until(() => processes.length === 3 && pool.serving && pool.workers[0]!.state === 'up');
    deepEqual(asked('listen')[2], [{ known: 8000, address }]);
  });

  it('serves while at least one worker does, and has converged when all serve the same configuration', async () => {
    deepEqual([pool.serving, pool.converged], [true, false]);
    await heartbeat({ revision: 1 }, { revision: 1 });
    equal(pool.converged, true);
    await heartbeat({ revision: 1 }, { revision: 0 });
    equal(pool.converged, false);
    await heartbeat({ revision: 1 }, { revision: 1 });
    processes[0]!.end(1, null);
    deepEqual([pool.serving, pool.converged], [true, false]);
    processes[1]!.end(1, null);
    deepEqual([pool.serving, pool.converged], [false, false]);
  });

  it('lists its workers, without values that were not reported yet', async () => {
    const reported = {
      ...{ requests: 2, calls: 3, streams: 4, connections: 9, loopLagMs: 5, lostLines: 6 },
      ...{ rssBytes: 7, heapUsedBytes: 8, cpuMs: 10 },
    };
    await heartbeat({ revision: 9, ...reported });
    const [first, second] = pool.workers.map(({ uptimeMs, ...shown }) => {
      ok(uptimeMs >= 0);
      return shown;
    });
    deepEqual(first, { id: 1, pid: 100, state: 'up', revision: 9, ...reported });
    const none = Object.fromEntries(Object.keys(reported).map((name) => [name, 0]));
    deepEqual(second, { id: 2, pid: 101, state: 'up', revision: null, ...none });
  });

  it('adds up the reports of its workers', async () => {
    const none = {
      aborted: pool.aborted,
      faults: pool.headerFaults,
      leaked: pool.leaked,
      held: pool.held,
      streams: pool.streamsByEndpoint,
    };
    deepEqual(none, { aborted: 0, faults: 0, leaked: 0, held: [], streams: new Map() });
    const held = (revision: number, state: 'current' | 'draining', ageMs: number) => ({
      ...{ revision, state, ageMs },
      ...{ requests: revision, streams: 10 },
    });
    await heartbeat(
      {
        ...{ aborted: 1, headerFaults: 5, leaked: 2 },
        held: [held(2, 'current', 5), held(1, 'draining', 9)],
        streamsByEndpoint: new Map([['GET /a', 2]]),
      },
      {
        ...{ aborted: 3, headerFaults: 6, leaked: 4 },
        held: [held(3, 'current', 1), held(2, 'draining', 7)],
        streamsByEndpoint: new Map([
          ['GET /a', 3],
          ['GET /b', 1],
        ]),
      },
    );
    deepEqual([pool.aborted, pool.headerFaults, pool.leaked], [4, 11, 6]);
    deepEqual(
      [...pool.streamsByEndpoint],
      [
        ['GET /a', 5],
        ['GET /b', 1],
      ],
    );
    deepEqual(pool.held, [
      { revision: 3, state: 'current', requests: 3, streams: 10, ageMs: 1 },
      { revision: 2, state: 'current', requests: 4, streams: 20, ageMs: 7 },
      { revision: 1, state: 'draining', requests: 1, streams: 10, ageMs: 9 },
    ]);
    equal(await pool.countInFlight(), 3);
  });

  it('counts the traffic of its workers as its own', async () => {
    const delta = { calls: 2, errors: 1, latencyNs: 5, buckets: [], statuses: [0, 2, 0, 0, 0], backends: [] };
    await heartbeat({
      traffic: [
        ['GET /a', delta],
        ['GET /gone', delta],
      ] as never,
    });
    const [a, b] = gateway.generations.current.runtime.compiled.routes;
    deepEqual([a!.traffic.calls, a!.traffic.errors, b!.traffic.calls], [2, 1, 0]);
  });

  it('keeps the resources of a configuration until no worker uses it', async () => {
    const draining = () => gateway.generations.draining.map(({ runtime }) => runtime.id);
    const held = (revision: number, state: 'current' | 'draining') => ({
      held: [{ revision, state, requests: 0, streams: 0, ageMs: 0 }],
    });
    await heartbeat(held(1, 'current'), held(1, 'current'));
    await gateway.reload(config('two'));
    await heartbeat(held(2, 'current'), held(1, 'draining'));
    deepEqual(draining(), [1]);
    await heartbeat(held(2, 'current'), held(2, 'current'));
    await until(() => draining().length === 0);
    await heartbeat(held(2, 'current'), held(2, 'current'));
    await gateway.reload(config('three'));
    deepEqual(draining(), [2]);
    for (const one of processes.slice(0, 2)) one.end(1, null);
    await until(() => draining().length === 0);
  });

  it('answers requests of its workers for shared values', async () => {
    const [one] = processes;
    const [id] = [...gateway.generations.current.runtime.shared.keys()].filter((name) => name.includes('count'));
    equal(await one!.channel.ask('shared', { revision: 1, id, question: 3 }), 3);
    equal(await processes[1]!.channel.ask('shared', { revision: 1, id, question: 3 }), 6);
    await rejects(one!.channel.ask('shared', { revision: 1, id: 'x', question: 3 }), {
      code: 'SHARED_UNKNOWN',
      message: 'the shared value x does not exist',
    });
  });

  it('passes every change of a mirrored value to all workers', async () => {
    list.change('mine');
    await until(() => asked('mirror').every((changes) => changes.length === 1));
    const [[{ id }]] = asked('mirror') as [[{ id: string }]];
    processes[0]!.channel.notify('mirror', { id, change: 'theirs' });
    await until(() => asked('mirror').every((changes) => changes.length === 2));
    deepEqual(asked('mirror')[1], [
      { id, change: 'mine' },
      { id, change: 'theirs' },
    ]);
    deepEqual(list.value, ['mine', 'theirs']);
    equal(await processes[0]!.channel.ask('snapshot', id), 'mine,theirs');
    equal(await processes[0]!.channel.ask('snapshot', 'unknown'), undefined);
  });

  it('logs events of its workers, and their log lines', async () => {
    const reported = (): unknown[][] => {
      const results: unknown[][] = [];
      const subscription = { after: 0, types: ['worker.*', 'breaker.*'] };
      gateway.events.subscribe(subscription, ({ type, data }) => void results.push([type, data]))();
      return results;
    };
    processes[1]!.channel.notify('event', { type: 'breaker.changed', data: { name: 'b' } });
    await until(() => reported().length === 3);
    processes[0]!.end(null, 'SIGSEGV');
    await until(() => reported().length === 5);
    deepEqual(reported(), [
      ['worker.up', { worker: 1, pid: 100 }],
      ['worker.up', { worker: 2, pid: 101 }],
      ['breaker.changed', { name: 'b', worker: 2 }],
      ['worker.down', { worker: 1, pid: 100, reason: 'SIGSEGV' }],
      ['worker.up', { worker: 1, pid: 102 }],
    ]);
    const logged = sinks.lines
      .filter((line) => /worker \d/.test(line))
      .map((line) => line.replace(/^.*(?=WARNING|INFO)/, ''));
    equal(logged.length, 2, logged.join('\n'));
    match(logged[0]!, /WARNING.*worker 1 \(pid 100\) exited: SIGSEGV; restarting in 100 ms/);
    match(logged[1]!, /INFO.*worker 1 \(pid 102\) is running again/);
  });

  it('sends denied addresses, log level and drain state to its workers', async () => {
    const allow = await gateway.deny({ address: '127.0.0.1', port: 5 });
    deepEqual(asked('deny'), Array(2).fill([[], [{ address: '127.0.0.1', port: 5 }]]));
    allow();
    await until(() => asked('deny').every((all) => all.length === 3));
    pool.setLogLevel('DEBUG');
    pool.setClosing(true);
    equal(pool.closing, true);
    await until(() => asked('closing').every((all) => all.at(-1) === true));
    deepEqual(asked('level'), [['DEBUG'], ['DEBUG']]);
    processes[0]!.end(1, null);
    await until(() => asked('closing')[2]?.[0] === true);
    pool.setClosing(false);
    equal(pool.closing, false);
  });

  it('closes with its workers', async () => {
    await gateway.close();
    deepEqual(asked('stop'), [[null], [null]]);
    deepEqual(
      pool.workers.map(({ state }) => state),
      ['down', 'down'],
    );
    equal(gateway.generations.draining.length, 0);
  });
});
