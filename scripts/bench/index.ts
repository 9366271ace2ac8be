/**
 * `npm run bench`: what one request costs the gateway, next to what it must cost.
 *
 *   npm run bench -- [--rounds 5] [--seconds 3] [--connections 64] [--scenario no-op,merge] [--json FILE] [--noise]
 *                  [--backend node|nginx] [--peers all|nginx,caddy,... [--charts FOLDER]]
 *
 * How to read the figures
 * - `µs` is CPU time, user and system, all threads, of the measured process alone, divided by the requests it answered.
 *   It depends little on what else runs on the machine, unlike requests per second. It still depends on the machine:
 *   compare within one run only.
 * - `base` is a bare Node program written by hand for that one scenario (floor.ts): node:http in front, undici dispatch
 *   behind. It does not route, keep deadlines, watch for clients that leave, or add the headers a gateway must add.
 *   In `access-log` it is the gateway itself with its access log off, in the scenario of a component the gateway without it.
 * - `ratio` is gateway over base, taken round by round, where the two take turns (base, gateway, base, ...), so that
 *   a slow minute of the machine hits both. Median of the rounds; least and greatest in brackets. Where the brackets of
 *   two runs overlap, nothing is proven. `--noise` compares every base with itself and shows the noise.
 * - `MiB` is the resident memory of the process at the end of each round.
 * - In `json` and `json-64k` the floor decodes and encodes. The gateway may prove that nothing looks into the data, check
 *   it and pass the bytes: there a ratio below 1 is work saved, not a faster encoder. `filter` and `merge` leave no such
 *   choice.
 * - Requests per second and latency are those of a full load: on two cores, the load generator and the upstream share
 *   what the measured process leaves. They tell little about latency at normal load.
 * - In the JSON file, `busy` is CPU time over elapsed time; well below 1 means that upstream or generator were the limit.
 *
 * Scenarios: `no-op` passes 1 KiB as bytes; `json` decodes and encodes it; `filter` adds allow, mapping and group;
 * `merge` joins three backends of 1 KiB; `json-64k` is `json` with 64 KiB. `static` and `not-found` ask no backend. `echo-1m`
 * and `echo-100m` send so many bytes, which come back. `routes-1000-first` and the like have so many endpoints, and are
 * compared with the gateway that has 10; `workers` has two, and is compared with one process. Their access log is off. `access-log` is
 * `no-op` with the log on, going to a file, for at least 200,000 requests. The scenarios of `components.ts` compare the
 * gateway without a component to the gateway with it; `more µs` is what it costs a request. Both stand in one process and
 * take turns of a tenth of a second, so that the collector treats them alike. Sockets make these figures uncertain by
 * several µs: `node scripts/bench/in-process.ts` measures components without them.
 *
 * Every round is checked: sample answers before and after are compared as a whole, no answer under load may be other
 * than 2xx, and the bytes of all answers must add up. A scenario that fails shows no figures and makes the command fail.
 * Load comes from wrk when it is on PATH and `--seconds` is whole, else, and for components, from load.ts.
 * `node scripts/bench/startup.ts` measures start and memory.
 *
 * `--peers` runs other gateways beside, on the same scenarios as far as they can: each is one file in `peers`, and names
 * how it is installed (into `$XDG_CACHE_HOME/sluice-bench`), configured and started. All take turns; `ratio` is CPU over
 * that of the floor. `direct` is the load on the backend without anything before it: what the generator and the backend
 * can do here. CPU and memory are those of a program with its child processes. `at half` is the latency at half the
 * requests per second that the program itself carried, sent by the clock. A round with a wrong answer or an error is void.
 * Programs that are not Node's use as many threads as they like.
 * The built-in generator sends that load: where it cannot send as much, there is no such figure.
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

/** A peer may lack results; the gateway and its reference may not. */
function isFailed(outcome: Outcome | ContestOutcome): boolean {
  if (!('standings' in outcome)) return 'failed' in outcome;
  return [floor, gateway].some(({ name }) => !outcome.standings.some((standing) => standing.name === name));
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
