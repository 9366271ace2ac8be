/**
 * Cost of one reload for the serving thread, by number of endpoints: each reload changes one endpoint of the file.
 *
 *   node --expose-gc scripts/bench/reload-stretch.ts [--endpoints 1000,10000] [--reloads 20] [--change endpoint|service]
 *
 * Longest: the longest time between two turns of the event loop, from the reload request to the release of the replaced
 * configuration, including garbage collection; and the most CPU time that the thread spends between two turns, which other
 * programs on the machine do not affect. CPU: of all threads of the process, including the loop that measures the turns;
 * `--change none` saves the same file again. Medians, with the maximum in parentheses.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { type RunningGateway, startGateway } from '../../kernel/gateway/start-gateway.ts';
import { catalogue } from '../../plugins/index.ts';
import { manyEndpoints } from './many-endpoints.ts';
import { positive } from './options.ts';
import { configWith } from './scenario.ts';
import { spread } from './spread.ts';
import { table } from './table.ts';

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000,10000' },
    reloads: { type: 'string', default: '20' },
    change: { type: 'string', default: 'endpoint' },
  },
});
const reloads = positive('reloads', values.reloads, true);

/** Tracks the longest time between two turns of the event loop since its creation, and the most CPU time of its thread, in milliseconds. */
class Turns {
  longest = 0;
  most = 0;
  #last = performance.now();
  #used = threadMs();
  #running = true;

  constructor() {
    const turn = (): void => {
      const now = performance.now();
      this.longest = Math.max(this.longest, now - this.#last);
      this.#last = now;
      const used = threadMs();
      this.most = Math.max(this.most, used - this.#used);
      this.#used = used;
      if (this.#running) setImmediate(turn);
    };
    turn();
  }

  stop(): void {
    this.#running = false;
    this.longest = Math.max(this.longest, performance.now() - this.#last);
    this.most = Math.max(this.most, threadMs() - this.#used);
  }
}

interface Cost {
  readonly longest: number;
  readonly most: number;
  readonly visible: number;
  readonly cpu: number;
  readonly phases: Readonly<Record<string, number>>;
}

function heapMb(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** CPU time of this thread, in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** CPU time of the process, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function measure(size: number, folder: string): Promise<string[]> {
  const file = join(folder, `${size}.json`);
  const { endpoints } = manyEndpoints(size);
  const base = configWith(endpoints, 'http://127.0.0.1:1', 0);
  const save = (revision: number): void => {
    const changed = [...endpoints];
    const at = (revision * 7919) % size;
    if (values.change === 'endpoint') changed[at] = { ...endpoints[at], timeout: `${5_000 + revision}ms` };
    const service = values.change === 'service' ? { timeout: `${10_000 + revision}ms` } : {};
    writeFileSync(file, JSON.stringify({ ...base, ...service, endpoints: changed }, null, 2));
  };
  save(0);
  const gateway = (await startGateway(catalogue, file, { sinks: silentSinks })) as RunningGateway;
  const costs: Cost[] = [];
  try {
    const before = heapMb();
    let once = 0;
    for (let revision = 1; revision <= reloads + 2; revision++) {
      save(revision);
      await delay(50);
      const cpu = cpuMs();
      const turns = values.change === 'none' ? null : new Turns();
      const start = performance.now();
      const applied = await gateway.reload();
      const visible = performance.now() - start;
      while (gateway.status.draining > 0) await delay(1);
      turns?.stop();
      const { longest = 0, most = 0 } = turns ?? {};
      const cost = { longest, most, visible, cpu: cpuMs() - cpu, phases: applied.phases };
      if (revision > 2) costs.push(cost);
      if (revision === 3) once = heapMb();
    }
    await delay(100);
    const after = heapMb();
    const figure = (of: (cost: Cost) => number): string => {
      const { median, max } = spread(costs.map(of));
      return `${median.toFixed(1)} (${max.toFixed(1)})`;
    };
    const phases = ['read', 'validate', 'build', 'warmup', 'swap'].map((phase) =>
      figure((cost) => cost.phases[phase] ?? 0),
    );
    return [
      String(size),
      figure(({ longest }) => longest),
      figure(({ most }) => most),
      figure(({ visible }) => visible),
      figure(({ cpu }) => cpu),
      ...phases,
      `${before.toFixed(0)} / ${once.toFixed(0)} / ${after.toFixed(0)}`,
    ];
  } finally {
    await gateway.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'reload-'));
try {
  const heads = [
    'endpoints',
    'longest ms',
    'CPU ms in it',
    'visible ms',
    'CPU ms',
    'read',
    'validate',
    'build',
    'warmup',
    'swap',
    'heap MB',
  ];
  const rows: string[][] = [];
  for (const size of values.endpoints.split(',')) rows.push(await measure(positive('endpoints', size, true), folder));
  console.log(table([heads, ...rows]));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
