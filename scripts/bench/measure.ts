import type { Generator } from './generator.ts';
import { type Lane, type Round, roundOf } from './lane.ts';
import { openApart, openTogether } from './lanes.ts';
import type { Scenario } from './scenario.ts';
import { type Spread, spread } from './spread.ts';
import type { Subject } from './subject.ts';

/** Ports, durations and output folder of a measurement. */
export interface Plan {
  readonly upstream: string;
  readonly generator: Generator;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Folder for configurations and outputs. */
  readonly folder: string;
}

/** Result of one program in one scenario, over all rounds. */
export interface Side {
  readonly cpuMicros: Spread;
  readonly userMicros: Spread;
  readonly systemMicros: Spread;
  readonly requestsPerSecond: Spread;
  readonly p50Millis: Spread;
  readonly p99Millis: Spread;
  /** CPU time relative to elapsed time: about 1 when the main thread was never idle. */
  readonly busy: Spread;
  /** Memory at the end of each round. */
  readonly residentMiB: Spread;
}

/** CPU time of the second program relative to the first, round by round. */
export interface Comparison {
  readonly base: Side;
  readonly subject: Side;
  readonly ratio: Spread;
  /** Difference in CPU time between the two programs, in microseconds, round by round. */
  readonly more: Spread;
}

/** Maximum time under load before measuring, in seconds: by then the hot path is compiled. */
export const WARM_UP_SECONDS = 4;

/** Length of a turn when both run in one process, in seconds. */
const SLICE_SECONDS = 0.1;

/**
 * Runs two programs side by side on one scenario, alternating round by round or, for a component, by slices of a round,
 * with both gateways in one process.
 * @throws Error naming the program whose response was wrong.
 */
export async function compare(scenario: Scenario, first: Subject, second: Subject, plan: Plan): Promise<Comparison> {
  const open = scenario.attach ? openTogether : openApart;
  const slice = scenario.attach ? Math.min(SLICE_SECONDS, plan.seconds) : plan.seconds;
  const { lanes, close } = await open(scenario, [first, second], plan);
  try {
    for (const lane of lanes) await roundOf(lane, [await lane.load(Math.min(WARM_UP_SECONDS, plan.seconds * 2))]);
    const rounds: Round[][] = lanes.map(() => []);
    const isEnough = () =>
      rounds.every((done) => done.length >= plan.rounds && requestsOf(done) >= (scenario.requests ?? 0));
    while (!isEnough()) {
      const slices = await inTurns(lanes, plan.seconds, slice);
      for (const [index, lane] of lanes.entries()) rounds[index]!.push(await roundOf(lane, slices[index]!));
    }
    for (const [index, lane] of lanes.entries()) await lane.finish(requestsOf(rounds[index]!));
    const [base = [], subject = []] = rounds;
    const ratio = spread(subject.map((round, index) => round.cpuMicros / base[index]!.cpuMicros));
    const more = spread(subject.map((round, index) => round.cpuMicros - base[index]!.cpuMicros));
    return { base: summary(base), subject: summary(subject), ratio, more };
  } finally {
    await close();
  }
}

/** Puts each gateway under load for `seconds`, in turns of `slice` seconds. Each turn starts with another gateway. */
async function inTurns(lanes: readonly Lane[], seconds: number, slice: number) {
  const slices = new Map(lanes.map((lane) => [lane, [] as Awaited<ReturnType<Lane['load']>>[]]));
  const turns = Math.round(seconds / slice);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const lane of turn % 2 === 0 ? lanes : lanes.toReversed()) slices.get(lane)!.push(await lane.load(slice));
  }
  return lanes.map((lane) => slices.get(lane)!);
}

function requestsOf(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { requests }) => sum + requests, 0);
}

/** @param rounds at least one. */
export function summary(rounds: readonly Round[]): Side {
  const over = (key: keyof Round) => spread(rounds.map((round) => round[key]));
  return {
    cpuMicros: over('cpuMicros'),
    userMicros: over('userMicros'),
    systemMicros: over('systemMicros'),
    requestsPerSecond: over('requestsPerSecond'),
    p50Millis: over('p50Millis'),
    p99Millis: over('p99Millis'),
    busy: over('busy'),
    residentMiB: over('residentMiB'),
  };
}
