import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { Generator } from './generator.ts';
import { usageOf } from './meter.ts';
import { type Attached, configWith, endpointOf, type Scenario } from './scenario.ts';
import { type Spread, spread } from './spread.ts';
import { launch, type Running, type Subject } from './subject.ts';
import { verifyLoad, verifySample } from './verify.ts';

/** Where and how long to measure. */
export interface Plan {
  readonly upstream: string;
  readonly generator: Generator;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** For configurations and outputs. */
  readonly folder: string;
}

/** What one program showed in one scenario, over all rounds. */
export interface Side {
  readonly cpuMicros: Spread;
  readonly requestsPerSecond: Spread;
  readonly p50Millis: Spread;
  readonly p99Millis: Spread;
  /** CPU time over elapsed time: about 1 when the main thread was never idle. */
  readonly busy: Spread;
  /** Memory at the end of each round. */
  readonly residentMiB: Spread;
}

/** CPU of the second program over CPU of the first, round by round. */
export interface Comparison {
  readonly base: Side;
  readonly subject: Side;
  readonly ratio: Spread;
  /** The difference of the two, in microseconds, round by round. */
  readonly more: Spread;
}

/** Longest time under load before the figures count, in seconds: by then the compiler is done with the hot path. */
const WARM_UP_SECONDS = 4;

/**
 * Runs two programs side by side on one scenario, in turns.
 * @throws Error naming the program whose answer was wrong.
 */
export async function compare(scenario: Scenario, first: Subject, second: Subject, plan: Plan): Promise<Comparison> {
  const lanes: Lane[] = [];
  const attached = scenario.attach?.(plan.folder) ?? {};
  try {
    for (const subject of [first, second]) lanes.push(await open(subject, scenario, attached, lanes.length, plan));
    for (const lane of lanes) await lane.round(Math.min(WARM_UP_SECONDS, plan.seconds * 2));
    const rounds: Round[][] = lanes.map(() => []);
    const isEnough = () =>
      rounds.every((done) => done.length >= plan.rounds && requestsOf(done) >= (scenario.requests ?? 0));
    while (!isEnough()) {
      for (const [index, lane] of lanes.entries()) rounds[index]!.push(await lane.round(plan.seconds));
    }
    for (const lane of lanes) await lane.finish();
    const [base = [], subject = []] = rounds;
    const ratio = spread(subject.map((round, index) => round.cpuMicros / base[index]!.cpuMicros));
    const more = spread(subject.map((round, index) => round.cpuMicros - base[index]!.cpuMicros));
    return { base: summary(base), subject: summary(subject), ratio, more };
  } finally {
    await Promise.all(lanes.map((lane) => lane.running.child.stop()));
  }
}

interface Round {
  readonly requests: number;
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly busy: number;
  readonly residentMiB: number;
}

interface Lane {
  readonly running: Running;
  round(seconds: number): Promise<Round>;
  /** Checks what can only be seen afterwards. */
  finish(): Promise<void>;
}

async function open(
  subject: Subject,
  scenario: Scenario,
  attached: Attached,
  index: number,
  plan: Plan,
): Promise<Lane> {
  const { upstream, generator, connections, folder } = plan;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const configFile = join(folder, `${index}-${scenario.name}.json`);
  const logFile = join(folder, `${index}-${scenario.name}.log`);
  const components = subject.bare ? {} : attached;
  const endpoints = [endpointOf(scenario, components)];
  const config = configWith(endpoints, upstream, port, subject.logsAccess, components.service);
  const modules = components.modules && { plugin: { folder: components.modules, pattern: '.js' } };
  writeFileSync(configFile, JSON.stringify({ ...config, ...modules }));
  const { headers } = attached;
  const setup = { port, upstream, scenario: scenario.name, configFile };
  const running = await launch(subject, setup, scenario.path, logFile, headers?.[0]);
  const headersFile = headers && join(folder, `${scenario.name}-headers.json`);
  if (headersFile) writeFileSync(headersFile, JSON.stringify(headers));
  const blame = (error: unknown) => new Error(`${subject.name}: ${(error as Error).message}`);
  let requests = 0;

  async function round(seconds: number): Promise<Round> {
    const bodyBytes = await verifySample(origin, scenario, headers?.[0]);
    const before = await usageOf(running.child);
    const report = await generator.run({ url: origin + scenario.path, connections, seconds, headersFile });
    const after = await usageOf(running.child);
    verifyLoad(report, bodyBytes);
    await verifySample(origin, scenario, headers?.[0]);
    requests += report.requests;
    const cpuMicros = after.cpuMicros - before.cpuMicros;
    return {
      requests: report.requests,
      cpuMicros: cpuMicros / report.requests,
      requestsPerSecond: report.requests / report.seconds,
      p50Millis: report.p50Millis,
      p99Millis: report.p99Millis,
      busy: cpuMicros / 1e6 / report.seconds,
      residentMiB: after.residentBytes / 2 ** 20,
    };
  }

  return {
    running,
    round: (seconds) => round(seconds).catch((error) => Promise.reject(blame(error))),
    async finish() {
      if (!subject.logsAccess) return;
      await running.child.stop();
      const lines = readFileSync(logFile).reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
      if (lines < requests) throw blame(new Error(`${lines} lines of log for ${requests} requests`));
    },
  };
}

function requestsOf(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { requests }) => sum + requests, 0);
}

function summary(rounds: readonly Round[]): Side {
  const over = (key: keyof Round) => spread(rounds.map((round) => round[key]));
  return {
    cpuMicros: over('cpuMicros'),
    requestsPerSecond: over('requestsPerSecond'),
    p50Millis: over('p50Millis'),
    p99Millis: over('p99Millis'),
    busy: over('busy'),
    residentMiB: over('residentMiB'),
  };
}
