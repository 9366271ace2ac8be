import type { LoadReport } from './load.ts';
import type { Usage } from './probe.ts';
import type { Scenario } from './scenario.ts';
import { verifyLoad, verifySample } from './verify.ts';

/** One of the two that a scenario compares, under load. */
export interface Lane {
  readonly name: string;
  readonly origin: string;
  readonly scenario: Scenario;
  /** Sent with the samples. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Puts load on it, as much as the connections carry or so many requests a second. */
  load(seconds: number, rate?: number): Promise<Slice>;
  /** Checks what can only be seen afterwards. @throws Error when the log lacks lines. */
  finish(requests: number): Promise<void>;
}

/** What came of a time under load. */
export interface Slice {
  readonly report: LoadReport;
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly residentBytes: number;
}

/** The figures of a round, of all its slices. */
export interface Round {
  readonly requests: number;
  /** CPU time of a request, of the program and of the system on its behalf. */
  readonly cpuMicros: number;
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly busy: number;
  readonly residentMiB: number;
}

/** Measures what a process used while it was under load. */
export async function sliceOf(usage: () => Promise<Usage>, load: () => Promise<LoadReport>): Promise<Slice> {
  const before = await usage();
  const report = await load();
  const { userMicros, systemMicros, residentBytes } = await usage();
  return {
    report,
    userMicros: userMicros - before.userMicros,
    systemMicros: systemMicros - before.systemMicros,
    residentBytes,
  };
}

/** Checks the answers and adds the slices up; of latencies the mean of the slices. @throws Error naming the lane. */
export async function roundOf(lane: Lane, slices: readonly Slice[]): Promise<Round> {
  try {
    const bodyBytes = await verifySample(lane.origin, lane.scenario, lane.headers);
    for (const { report } of slices) verifyLoad(report, bodyBytes);
  } catch (error) {
    throw new Error(`${lane.name}: ${(error as Error).message}`);
  }
  const sum = (figure: (slice: Slice) => number) => slices.reduce((total, slice) => total + figure(slice), 0);
  const requests = sum(({ report }) => report.requests);
  const userMicros = sum((slice) => slice.userMicros);
  const systemMicros = sum((slice) => slice.systemMicros);
  const cpuMicros = userMicros + systemMicros;
  const seconds = sum(({ report }) => report.seconds);
  return {
    requests,
    cpuMicros: cpuMicros / requests,
    userMicros: userMicros / requests,
    systemMicros: systemMicros / requests,
    requestsPerSecond: requests / seconds,
    p50Millis: sum(({ report }) => report.p50Millis) / slices.length,
    p99Millis: sum(({ report }) => report.p99Millis) / slices.length,
    busy: cpuMicros / 1e6 / seconds,
    residentMiB: slices.at(-1)!.residentBytes / 2 ** 20,
  };
}
