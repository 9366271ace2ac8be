import type { Child } from './children.ts';
import { type Lane, type Round, roundOf, sliceOf } from './lane.ts';
import { openOne, orderOf } from './lanes.ts';
import { type Plan, type Side, summary, WARM_UP_SECONDS } from './measure.ts';
import { usageOf } from './meter.ts';
import { resources } from './payloads.ts';
import type { Scenario } from './scenario.ts';
import { type Spread, spread } from './spread.ts';
import type { Subject } from './subject.ts';
import { paths } from './work.ts';

/** Result of one program in one scenario. */
export interface ContestResult {
  readonly name: string;
  readonly full: Side;
  /** CPU time relative to the first program, round by round; undefined for the backend itself, whose CPU is not measured. */
  readonly ratio: Spread | undefined;
  /** Latency at half of its maximum throughput; undefined when every such round was void. */
  readonly half:
    | { readonly requestsPerSecond: number; readonly p50Millis: Spread; readonly p99Millis: Spread }
    | undefined;
  /** Reasons why rounds are void. */
  readonly voided: readonly string[];
}

/** A program without results, and the reason. */
export interface Absent {
  readonly name: string;
  readonly reason: string;
}

export interface ContestPlan extends Plan {
  readonly backend: Child;
}

/** A running program. */
interface Runner {
  readonly lane: Lane;
  readonly full: (Round | undefined)[];
  readonly half: (Round | undefined)[];
  readonly voided: string[];
}

/** Minimum share of the requested rate that the built-in generator must reach; below it the round is void. */
const LEAST_RATE = 0.9;

/** Name of the control: the backend without a program in front of it. */
export const DIRECT = 'direct';

/**
 * Runs programs side by side on one scenario, alternating round by round, with the bare backend as a control. Then
 * repeats that at half of each program's throughput. A round with a wrong response or an error is void.
 * @param subjects the first one is the reference for the others.
 */
export async function contest(
  scenario: Scenario,
  subjects: readonly Subject[],
  plan: ContestPlan,
): Promise<{ results: readonly ContestResult[]; absent: readonly Absent[] }> {
  const absent: Absent[] = [];
  const runners: Runner[] = [];
  const stops: (() => Promise<void>)[] = [];
  const enter = (lane: Lane) => runners.push({ lane, full: [], half: [], voided: [] });
  try {
    enter(direct(scenario, plan));
    for (const [index, subject] of subjects.entries()) {
      try {
        const { lane, stop } = await openOne(scenario, subject, index, plan);
        stops.push(stop);
        enter(lane);
      } catch (error) {
        absent.push({ name: subject.name, reason: (error as Error).message });
      }
    }
    for (const { lane } of runners) await lane.load(Math.min(WARM_UP_SECONDS, plan.seconds * 2)).catch(() => {});
    await inTurns(runners, plan.rounds, async (runner) => {
      runner.full.push(await attempt(runner, () => roundAt(runner.lane, plan.seconds)));
    });
    await inTurns(runners, plan.rounds, async (runner) => {
      const rate = rateOf(runner);
      if (rate > 0) runner.half.push(await attempt(runner, () => roundAt(runner.lane, plan.seconds, rate)));
    });
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
  const base = runners.find(({ lane }) => lane.name === subjects[0]!.name);
  const results: ContestResult[] = [];
  for (const runner of runners) {
    if (roundsOf(runner.full).length > 0) results.push(resultOf(runner, base?.full ?? []));
    else absent.push({ name: runner.lane.name, reason: runner.voided[0] ?? 'no round was measured' });
  }
  return { results: results, absent };
}

/** The backend itself, for the first resource that the scenario fetches. */
function direct(scenario: Scenario, { upstream, backend, generator, connections }: ContestPlan): Lane {
  const path = paths[scenario.name]![0]!;
  const order = orderOf(upstream, { ...scenario, path }, { connections });
  const own = scenario.echoes === undefined && { expected: resources[path], untouched: true as const };
  return {
    ...{ name: DIRECT, origin: upstream, headers: undefined },
    scenario: { ...scenario, path, ...own },
    load: (seconds, rate) =>
      sliceOf(
        () => usageOf(backend),
        () => generator.run({ ...order, seconds, rate }),
      ),
    finish: async () => {},
  };
}

/** The order rotates from round to round. */
async function inTurns(runners: readonly Runner[], rounds: number, run: (runner: Runner) => Promise<void>) {
  for (let round = 0; round < rounds; round += 1) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) await run(runner);
  }
}

async function roundAt(lane: Lane, seconds: number, rate?: number): Promise<Round> {
  const round = await roundOf(lane, [await lane.load(seconds, rate)]);
  if (rate !== undefined && round.requestsPerSecond < rate * LEAST_RATE) {
    throw new Error(
      `${lane.name}: ${round.requestsPerSecond.toFixed(0)} requests a second came, not ${rate.toFixed(0)}`,
    );
  }
  return round;
}

async function attempt({ voided }: Runner, measure: () => Promise<Round>): Promise<Round | undefined> {
  try {
    return await measure();
  } catch (error) {
    voided.push((error as Error).message);
    return undefined;
  }
}

function rateOf({ full }: Runner): number {
  const rounds = roundsOf(full);
  return rounds.length === 0 ? 0 : spread(rounds.map(({ requestsPerSecond }) => requestsPerSecond)).median / 2;
}

function roundsOf(rounds: readonly (Round | undefined)[]): Round[] {
  return rounds.filter((round) => round !== undefined);
}

function resultOf(runner: Runner, base: readonly (Round | undefined)[]): ContestResult {
  const { lane, full, half, voided } = runner;
  const ratios = full.flatMap((round, index) => {
    const other = base[index];
    return round && other ? [round.cpuMicros / other.cpuMicros] : [];
  });
  const calm = summaryOf(half);
  return {
    name: lane.name,
    full: summary(roundsOf(full)),
    ratio: lane.name === DIRECT || ratios.length === 0 ? undefined : spread(ratios),
    half: calm && { requestsPerSecond: rateOf(runner), p50Millis: calm.p50Millis, p99Millis: calm.p99Millis },
    voided,
  };
}

function summaryOf(rounds: readonly (Round | undefined)[]): Side | undefined {
  const counted = roundsOf(rounds);
  return counted.length === 0 ? undefined : summary(counted);
}
