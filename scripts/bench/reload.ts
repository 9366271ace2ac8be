/**
 * Cost of reloads for the requests served at the same time, by number of endpoints.
 *
 *   node scripts/bench/reload.ts [--endpoints 100,10000] [--seconds 8] [--rounds 3] [--every 1000] [--connections 8] [--workers 0]
 *     [--change service|endpoint] [--load half|full] [--backend node|nginx]
 *
 * In every round the same load runs twice: while nothing changes, and while the configuration is saved and reloaded by
 * signal every `--every` milliseconds. The load is half of the gateway's maximum request rate or, with `full`, one request
 * after another on each connection. Each saved configuration changes a service field, and thereby every endpoint, or one
 * endpoint only: a different one each time, never the one that is called. Prints medians of the rounds and the ratio of
 * the two; `--workers` adds that many serving processes to the primary. Wrong responses are counted in both.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../free-port.ts';
import { type Child, exitOnSignals } from './children.ts';
import { chooseGenerator, type Generator } from './generator.ts';
import type { LoadReport } from './load.ts';
import { manyEndpoints } from './many-endpoints.ts';
import { pick, positive } from './options.ts';
import { configWith } from './scenario.ts';
import { spread } from './spread.ts';
import { backends, openStage, type Stage } from './stage.ts';
import { gateway, launch } from './subject.ts';
import { table } from './table.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    endpoints: { ...text, default: '100,10000' },
    seconds: { ...text, default: '8' },
    rounds: { ...text, default: '3' },
    every: { ...text, default: '1000' },
    connections: { ...text, default: '8' },
    workers: { ...text, default: '0' },
    change: { ...text, default: 'service' },
    load: { ...text, default: 'half' },
    backend: { ...text, default: 'node' },
  },
});
const seconds = positive('seconds', values.seconds, false);
const rounds = positive('rounds', values.rounds, true);
const everyMs = positive('every', values.every, true);
const connections = positive('connections', values.connections, true);
const workers = values.workers === '0' ? 0 : positive('workers', values.workers, true);

interface Measured {
  readonly steady: readonly LoadReport[];
  readonly reloading: readonly LoadReport[];
  readonly reloads: number;
}

async function measure(size: number, { folder, upstream }: Stage, generator: Generator): Promise<Measured> {
  const port = await freePort();
  const configFile = join(folder, `reload-${size}.json`);
  const { endpoints, path } = manyEndpoints(size);
  const written = (revision: number): string => {
    const config = configWith(changed(endpoints, revision), upstream, port) as Record<string, unknown>;
    const service = values.change === 'service' ? { timeout: `${10_000 + revision}ms` } : {};
    const file = `${configFile}.${revision}`;
    writeFileSync(file, JSON.stringify({ ...config, ...service }));
    return file;
  };
  renameSync(written(0), configFile);
  const subject = {
    ...gateway,
    script: () => [
      ...gateway.script({ port, upstream, scenario: '', configFile, folder }),
      '--no-watch',
      ...(workers > 0 ? ['--workers', `${workers}`] : []),
    ],
  };
  const { child } = await launch(
    subject,
    { port, upstream, scenario: '', configFile, folder },
    path,
    join(folder, 'reload.log'),
  );
  const order = { url: `http://127.0.0.1:${port}${path}`, connections, seconds };
  const steady: LoadReport[] = [];
  const reloading: LoadReport[] = [];
  let revision = 0;
  try {
    const { requests, seconds: took } = await generator.run({ ...order, seconds: 2 });
    const load = values.load === 'full' ? order : { ...order, rate: Math.round(requests / took / 2) };
    await generator.run({ ...load, seconds: 3 });
    for (let round = 0; round < rounds; round++) {
      steady.push(await generator.run(load));
      // Configurations are prepared in advance, so that only the gateway affects the load.
      const next = Array.from({ length: Math.floor((seconds * 1000) / everyMs) }, () => written(++revision));
      const timer = setInterval(() => {
        const file = next.shift();
        if (file === undefined) return;
        renameSync(file, configFile);
        process.kill(child.pid, 'SIGHUP');
      }, everyMs);
      reloading.push(await generator.run(load));
      clearInterval(timer);
    }
    return { steady, reloading, reloads: served(child) };
  } finally {
    await child.stop();
  }
}

/** Changes the timeout of one endpoint, unless the service is to change. The last endpoint is the one that is called. */
function changed(endpoints: readonly object[], revision: number): readonly object[] {
  if (values.change === 'service' || revision === 0) return endpoints;
  const at = (revision * 7919) % (endpoints.length - 1);
  return endpoints.with(at, { ...endpoints[at], timeout: `${5_000 + revision}ms` });
}

/** Number of configurations applied after the first one, according to the log. */
function served(child: Child): number {
  return child.output().match(/now serving revision \d+/g)?.length ?? 0;
}

async function main(): Promise<void> {
  exitOnSignals();
  const stage = await openStage(pick('backend', values.backend, backends).name);
  const generator = chooseGenerator(seconds, stage.folder);
  try {
    const rows: string[][] = [];
    for (const size of values.endpoints.split(',').map((segment) => positive('endpoints', segment, true))) {
      rows.push(row(size, await measure(size, stage, generator)));
    }
    const heads = [
      'endpoints',
      'reloads',
      'steady r/s',
      'reloading r/s',
      'p50 ms',
      'p99 ms',
      'p50 ratio',
      'p99 ratio',
      'wrong',
    ];
    console.log(table([heads, ...rows]));
  } finally {
    await Promise.all([generator.close(), stage.close()]);
  }
}

function row(size: number, { steady, reloading, reloads }: Measured): string[] {
  const median = (reports: readonly LoadReport[], of: (report: LoadReport) => number) => spread(reports.map(of)).median;
  const rate = ({ requests, seconds: took }: LoadReport) => requests / took;
  const [before, during] = [steady, reloading].map((reports) => ({
    rate: median(reports, rate),
    p50: median(reports, ({ p50Millis }) => p50Millis),
    p99: median(reports, ({ p99Millis }) => p99Millis),
  })) as [Figures, Figures];
  const wrong = [...steady, ...reloading].reduce((sum, report) => sum + report.wrong, 0);
  return [
    String(size),
    String(reloads),
    before.rate.toFixed(0),
    during.rate.toFixed(0),
    `${before.p50.toFixed(2)} -> ${during.p50.toFixed(2)}`,
    `${before.p99.toFixed(2)} -> ${during.p99.toFixed(2)}`,
    (during.p50 / before.p50).toFixed(2),
    (during.p99 / before.p99).toFixed(2),
    String(wrong),
  ];
}

interface Figures {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
