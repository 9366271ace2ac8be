/**
 * `npm run bench`: CPU time per request of the gateway, compared with a minimal program that does the same work.
 *
 *   npm run bench -- [--rounds 5] [--seconds 3] [--connections 64] [--scenario no-op,merge] [--json FILE] [--noise]
 *                  [--backend node|nginx] [--peers all|nginx,caddy,... [--charts FOLDER]]
 *
 * How to read the figures
 * - `µs` is the CPU time, user and system, of all threads of the measured process, divided by the number of requests it
 *   handled. Unlike requests per second, it depends little on other programs of the machine. It still depends on the
 *   machine: compare figures of one run only.
 * - `base` is a bare Node.js program written by hand for that scenario (floor.ts): node:http in front, undici dispatch
 *   behind. It has no routing, deadlines or detection of disconnected clients, and adds none of the headers that a gateway
 *   must add. In `access-log` the base is the gateway with its access log off, for a component the gateway without it.
 * - `ratio` is gateway over base, per round; the two alternate within a round (base, gateway, base, ...), so that a slow
 *   minute of the machine affects both. Median of the rounds, with the minimum and maximum in parentheses. If the ranges of
 *   two runs overlap, nothing is proven. `--noise` compares every base with itself and shows the noise.
 * - `MiB` is the resident memory of the process at the end of each round.
 * - In `json` and `json-64k` the base decodes and encodes. The gateway may prove that no setting reads the data, validate
 *   it and pass the bytes: a ratio below 1 there means work saved, not a faster encoder. `filter` and `merge` always decode.
 * - Requests per second and latency are measured at full load: on two cores, the load generator and the upstream share
 *   the CPU time that the measured process leaves. They say little about latency at normal load.
 * - In the JSON file, `busy` is CPU time over elapsed time; well below 1 means that upstream or generator were the limit.
 *
 * Scenarios: `no-op` passes 1 KiB as bytes; `json` decodes and encodes it; `filter` adds allow, mapping and group;
 * `merge` joins three backends of 1 KiB; `json-64k` is `json` with 64 KiB. `static` and `not-found` call no backend.
 * `echo-1m` and `echo-100m` post that many bytes and receive them back. `routes-1000-first` and similar scenarios have that
 * many endpoints, and are compared with a gateway that has 10; `workers` runs two workers, and is compared with one
 * process. Their access log is off. `access-log` is `no-op` with the log going to a file, for at least 200,000 requests. The
 * scenarios of `components.ts` compare the gateway without and with a component; `more µs` is the additional cost per
 * request. Both run in one process and alternate every tenth of a second, so that garbage collection affects both equally.
 * Sockets add several µs of uncertainty: `node scripts/bench/in-process.ts` measures components without them.
 *
 * Every round is checked: sample responses before and after are compared in full, every response under load must be 2xx,
 * and the bytes of all responses must add up. A scenario that fails shows no figures and makes the command fail.
 * The load comes from wrk if it is on PATH and `--seconds` is a whole number; otherwise, and for components, from load.ts.
 * `node scripts/bench/startup.ts` measures startup and memory.
 *
 * `--peers` also runs other gateways on the scenarios that they support: each is one file in `peers`, which defines how it
 * is installed (into `$XDG_CACHE_HOME/sluice-bench`), configured and started. All alternate; `ratio` is CPU time over that
 * of the base. `direct` sends the load to the backend itself: the maximum that generator and backend reach on this machine.
 * CPU time and memory include child processes. `at half` is the latency at half of the program's own maximum rate, sent at
 * fixed intervals by the built-in generator; it is omitted if the generator cannot reach that rate. A round with a wrong
 * response or an error is void. Programs other than Node.js may use any number of threads.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { runAgainstPeers, writeCharts } from './against-peers.ts';
import { exitOnSignals } from './children.ts';
import type { ContestPlan } from './contest.ts';
import type { ContestOutcome } from './contest-report.ts';
import { chooseGenerator } from './generator.ts';
import { compare, type Plan } from './measure.ts';
import { type Options, readOptions } from './options.ts';
import type { Peer } from './peers/peer.ts';
import { describe, type Outcome } from './report.ts';
import type { Scenario } from './scenario.ts';
import { openStage } from './stage.ts';
import {
  bareGateway,
  floor,
  gateway,
  gatewayOfFew,
  gatewayOfWorkers,
  loggingGateway,
  type Subject,
} from './subject.ts';

async function main(): Promise<number> {
  exitOnSignals();
  const options = readOptions(process.argv.slice(2));
  const { rounds, seconds, connections, json, backend } = options;
  const stage = await openStage(backend);
  const generator = chooseGenerator(seconds, stage.folder);
  try {
    const [cpu] = cpus();
    const facts = { node: process.version, cpu: cpu?.model ?? 'unknown', cores: cpus().length };
    console.log(
      `Node ${facts.node}, ${facts.cores} x ${facts.cpu}; load: ${generator.name}, ${connections} connections; backend: ${backend}`,
    );
    const plan = { ...stage, generator, rounds, seconds, connections };
    const outcomes = options.peers ? await withPeers(options, options.peers, plan) : await compareAll(options, plan);
    const run = { ...facts, load: generator.name, backend, connections, rounds, seconds };
    if (json !== undefined) writeFileSync(json, JSON.stringify({ ...run, scenarios: outcomes }, null, 2) + '\n');
    return outcomes.some(isFailed) ? 1 : 0;
  } finally {
    await Promise.all([generator.close(), stage.close()]);
  }
}

async function compareAll({ scenarios, noise }: Options, plan: Plan): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const scenario of scenarios) {
    const [base, other] = programsOf(scenario);
    const subject = noise ? base : other;
    console.error(`${scenario.name}: ${plan.rounds} rounds of ${plan.seconds} s for ${base.name} and ${subject.name}`);
    const figures = await compare(scenario, base, subject, plan).catch((error: Error) => ({ failed: error.message }));
    outcomes.push({ name: scenario.name, ...figures });
  }
  console.log(describe(outcomes));
  return outcomes;
}

async function withPeers({ scenarios, charts }: Options, peers: readonly Peer[], plan: ContestPlan) {
  const outcomes = await runAgainstPeers(scenarios, peers, plan);
  if (charts !== undefined) writeCharts(outcomes, charts);
  return outcomes;
}

/** A peer may lack results, but the gateway and its reference may not. */
function isFailed(outcome: Outcome | ContestOutcome): boolean {
  if (!('results' in outcome)) return 'failed' in outcome;
  return [floor, gateway].some(({ name }) => !outcome.results.some((result) => result.name === name));
}

/** The two programs compared in a scenario. */
function programsOf(scenario: Scenario): readonly [Subject, Subject] {
  if (scenario.accessLog) return [gateway, loggingGateway];
  if (scenario.routes) return [gatewayOfFew, gateway];
  if (scenario.workers) return [gateway, gatewayOfWorkers(scenario.workers)];
  return scenario.attach ? [bareGateway, gateway] : [floor, gateway];
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 2;
});
