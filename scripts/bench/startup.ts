/**
 * Startup time of the gateway, and its memory after startup, by number of endpoints.
 *
 *   node scripts/bench/startup.ts [--runs 10] [--endpoints 10,1000,10000] [--json FILE] [--against floor] [--program FILE]
 *
 * `start` is the time from spawning the process to its first response with status 200, from the endpoint declared last;
 * `CPU` is the user and system time of the process until then, `resident` its memory right after that response. Medians,
 * with the minimum and maximum in parentheses. The first row is a bare Node.js program (floor.ts) without endpoints.
 *
 * `--program` is the command of an installed package, `node_modules/sluice/dist/kernel/bin.js`, in place of the source: after
 * `npm pack`, in another folder, `npm install …/sluice-0.1.0.tgz`. `NODE_COMPILE_CACHE` names a folder for compiled code: an
 * empty one for each run shows the first start of a machine (`--cold`).
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../free-port.ts';
import { exitOnSignals } from './children.ts';
import { manyEndpoints } from './many-endpoints.ts';
import { usageOf } from './meter.ts';
import { pick, positive } from './options.ts';
import { configWith } from './scenario.ts';
import { type Spread, spread } from './spread.ts';
import { openStage, type Stage } from './stage.ts';
import { floor, gateway, launch, type Subject } from './subject.ts';
import { table } from './table.ts';

interface Row {
  readonly program: string;
  readonly endpoints: number;
  readonly startMillis: Spread;
  readonly cpuMillis: Spread;
  readonly residentMiB: Spread;
}

async function main(): Promise<void> {
  exitOnSignals();
  const { runs, sizes, against, json, cold } = readOptions();
  const stage = await openStage();
  try {
    const rows = [await measure(floor, 0, runs, stage, cold)];
    for (const size of against === floor ? [] : sizes) rows.push(await measure(against, size, runs, stage, cold));
    const lines = rows.map(({ program, endpoints, startMillis, cpuMillis, residentMiB }) => [
      program,
      endpoints > 0 ? String(endpoints) : '-',
      figure(startMillis),
      figure(cpuMillis),
      figure(residentMiB),
    ]);
    console.log(table([['program', 'endpoints', 'start ms', 'CPU ms', 'resident MiB'], ...lines]));
    if (json !== undefined) writeFileSync(json, JSON.stringify({ node: process.version, runs, rows }, null, 2) + '\n');
  } finally {
    await stage.close();
  }
}

function readOptions() {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      runs: { ...text, default: '10' },
      endpoints: { ...text, default: '10,1000,10000' },
      against: { ...text, default: gateway.name },
      json: text,
      program: text,
      cold: { type: 'boolean', default: false },
    },
  });
  return {
    runs: positive('runs', values.runs, true),
    sizes: values.endpoints.split(',').map((size) => positive('endpoints', size, true)),
    against: subjectOf(values.against, values.program),
    cold: values.cold,
    json: values.json,
  };
}

function subjectOf(name: string, program: string | undefined): Subject {
  const subject = pick('against', name, [gateway, floor]);
  if (program === undefined || subject === floor) return subject;
  return { ...subject, name: 'package', script: (setup) => [resolve(program), ...subject.script(setup).slice(1)] };
}

async function measure(
  subject: Subject,
  size: number,
  runs: number,
  { folder, upstream }: Stage,
  isCold: boolean,
): Promise<Row> {
  const { endpoints, path } = size > 0 ? manyEndpoints(size) : { endpoints: [], path: '/' };
  const starts: number[] = [];
  const residents: number[] = [];
  const cpu: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const port = await freePort();
    const configFile = join(folder, `startup-${size}.json`);
    writeFileSync(configFile, JSON.stringify(configWith(endpoints, upstream, port)));
    const setup = { port, upstream, scenario: 'no-op', configFile, folder };
    const env = { ...subject.env, ...(isCold && { NODE_COMPILE_CACHE: join(folder, `cache-${size}-${run}`) }) };
    const { child, startMillis } = await launch({ ...subject, env }, setup, path, join(folder, 'startup.log'));
    const { userMicros, systemMicros, residentBytes } = await usageOf(child);
    starts.push(startMillis);
    cpu.push((userMicros + systemMicros) / 1000);
    residents.push(residentBytes / 2 ** 20);
    await child.stop();
  }
  return {
    program: subject.name,
    endpoints: size,
    startMillis: spread(starts),
    cpuMillis: spread(cpu),
    residentMiB: spread(residents),
  };
}

function figure({ median, min, max }: Spread): string {
  return `${median.toFixed(0)} (${min.toFixed(0)}-${max.toFixed(0)})`;
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
