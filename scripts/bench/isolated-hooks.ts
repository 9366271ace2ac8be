import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atBackend, definePlugin, Reply } from '#contract';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { createGateway } from '../../kernel/sluice.ts';

/** Measures the cost of a handler in a separate thread, compared with one in the gateway's thread. */

const CALLS = 500;
const ROUNDS = 25;

const elements = (isolate: boolean) => {
  const pass = isolate ? 'far' : 'near';
  return `export const plugin = { name: '${pass}', apiVersion: 1, isolate: ${isolate},
    middleware: () => (ctx, request, next) => next(), requestModifier: () => () => {} };`;
};

/** Responds immediately in place of a backend. */
const answer = definePlugin({
  name: 'bench/answer',
  description: 'Responds with constant data.',
  places: [
    atBackend({ type: 'object', properties: {} }, () => ({
      protocol: { schemes: ['http'], answers: 'data', call: () => Reply.data({ ok: true, list: [1, 2, 3] }) },
    })),
  ],
});

const backend = [{ url_pattern: '/', extra_config: { 'bench/answer': {} } }];
const endpoint = (path: string, extra: object) => ({ endpoint: path, extra_config: extra, backend });

interface Cost {
  /** CPU time of all threads, in microseconds. */
  readonly cpu: number;
  /** Time of a call, in microseconds. */
  readonly time: number;
}

/** Cost of a call to each path: the minimum of several rounds, in which the paths alternate. */
async function measure(paths: readonly string[], run: (path: string) => Promise<unknown>): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const path of paths) {
      const cpu = process.cpuUsage();
      const startedAt = performance.now();
      for (let at = 0; at < CALLS; at++) await run(path);
      const { user, system } = process.cpuUsage(cpu);
      const time = ((performance.now() - startedAt) * 1000) / CALLS;
      const best = costs.get(path) ?? { cpu: Number.POSITIVE_INFINITY, time: Number.POSITIVE_INFINITY };
      costs.set(path, { cpu: Math.min(best.cpu, (user + system) / CALLS), time: Math.min(best.time, time) });
    }
  }
  return costs;
}

/** Writes a line for each kind of handler with the cost that it adds to a request. */
export async function measureIsolated(write: (line: string) => void): Promise<void> {
  const folder = `${mkdtempSync(join(tmpdir(), 'bench-'))}/`;
  writeFileSync(join(folder, 'far.js'), elements(true));
  writeFileSync(join(folder, 'near.js'), elements(false));
  const named = (kind: string, name: string) => ({ [`plugin/${kind}`]: { name: [name] } });
  const gateway = await createGateway(
    {
      version: 3,
      host: ['http://127.0.0.1:1'],
      plugin: { folder },
      extra_config: { router: { disable_access_log: true } },
      endpoints: [
        endpoint('/none', {}),
        ...['near', 'far'].flatMap((name) =>
          ['middleware', 'req-resp-modifier'].map((kind) => endpoint(`/${kind}/${name}`, named(kind, name))),
        ),
      ],
    } as never,
    { plugins: [answer], sinks: silentSinks },
  );
  const kinds = ['middleware', 'req-resp-modifier'];
  const paths = ['/none', ...kinds.flatMap((kind) => [`/${kind}/near`, `/${kind}/far`])];
  const costs = await measure(paths, (path) => gateway.inject(path));
  const floor = costs.get('/none')!;
  const figure = (path: string): string => {
    const { cpu, time } = costs.get(path)!;
    return `${(cpu - floor.cpu).toFixed(1)} µs of processor, ${(time - floor.time).toFixed(1)} µs`;
  };
  for (const kind of kinds) {
    write(` 1 ${kind}: in the gateway ${figure(`/${kind}/near`)}; isolated ${figure(`/${kind}/far`)}\n`);
  }
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
}
