import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { type Absent, type ContestPlan, type ContestResult, contest, DIRECT } from './contest.ts';
import { type ContestOutcome, describeContest } from './contest-report.ts';
import { type Peer, subjectOf } from './peers/peer.ts';
import type { Program } from './programs.ts';
import type { Scenario } from './scenario.ts';
import { floor, gateway, type Subject } from './subject.ts';

/** Installs missing programs, runs the scenarios and prints each result as it completes. */
export async function runAgainstPeers(
  scenarios: readonly Scenario[],
  peers: readonly Peer[],
  plan: ContestPlan,
): Promise<readonly ContestOutcome[]> {
  const { programs, missing } = await install(peers, plan.folder);
  const outcomes: ContestOutcome[] = [];
  for (const scenario of scenarios) {
    const { able, unable } = fieldOf(scenario, programs);
    const subjects = [floor, gateway, ...able];
    console.error(
      `${scenario.name}: ${plan.rounds} rounds of ${plan.seconds} s for ${subjects.map(({ name }) => name).join(', ')}`,
    );
    const { results, absent } = await contest(scenario, subjects, plan);
    const outcome = { name: scenario.name, results, absent: [...absent, ...unable, ...missing] };
    outcomes.push(outcome);
    console.log(`\n${describeContest(outcome)}`);
  }
  return outcomes;
}

async function install(peers: readonly Peer[], folder: string) {
  const programs = new Map<Peer, Program>();
  const missing: Absent[] = [];
  for (const peer of peers) {
    console.error(`${peer.name}: looking for it`);
    try {
      programs.set(peer, await peer.install(folder));
    } catch (error) {
      missing.push({ name: peer.name, reason: `not installed: ${(error as Error).message}` });
    }
  }
  return { programs, missing };
}

/** Participants of a scenario, and those that cannot run it. */
export function fieldOf({ name }: Scenario, programs: ReadonlyMap<Peer, Program>) {
  const able: Subject[] = [];
  const unable: Absent[] = [];
  for (const [peer, program] of programs) {
    if (peer.scenarios.includes(name)) able.push(subjectOf(peer, program));
    else unable.push({ name: peer.name, reason: `cannot: ${peer.cannot}` });
  }
  return { able, unable };
}

/** Writes a chart of each scenario, `NAME.svg`. */
export function writeCharts(outcomes: readonly ContestOutcome[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, results } of outcomes) writeFileSync(join(folder, `${name}.svg`), chart(name, bars(results)));
}

function bars(results: readonly ContestResult[]) {
  return results
    .filter(({ name }) => name !== DIRECT)
    .map(({ name, full, ratio }) => ({
      name: name === floor.name ? 'bare Node' : name === gateway.name ? 'Sluice' : name,
      user: full.userMicros.median,
      system: full.systemMicros.median,
      ...(ratio && { note: ratio.median.toFixed(2) }),
      own: name === gateway.name,
    }));
}
