import type { LoadReport } from './load.ts';
import type { Usage } from './probe.ts';
import type { Scenario } from './scenario.ts';
import { verifyLoad, verifySample } from './verify.ts';

/** One of the two programs that a scenario compares, under load. */
export interface Lane {
  readonly name: string;
  readonly origin: string;
  readonly scenario: Scenario;
  /** Headers sent with the sample requests. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Generates load, as much as the connections carry or at a fixed number of requests a second. */
  load(seconds: number, rate?: number): Promise<Slice>;
  /** Performs the checks that are only possible after the load. @throws Error when the log lacks lines. */
  finish(requests: number): Promise<void>;
}

/** Result of a period under load. */
export interface Slice {
  readonly report: LoadReport;
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly residentBytes: number;
}

/** Result of a round, over all its slices. */
export interface Round {
  readonly requests: number;
  /** CPU time per request, of the program and of the kernel on its behalf. */
  readonly cpuMicros: number;
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly busy: number;
  readonly residentMiB: number;
}

/** Measures the resources that a process uses under load. */
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

/** Checks the responses of a gateway under load and adds up its measurements; latencies are averaged. @throws Error with the name of the gateway. */
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
