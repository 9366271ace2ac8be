import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../free-port.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway.ts';
import { configuration, paths, type Surroundings } from './configuration.ts';
import { noFailures, type Plan } from './plan.ts';
import { plans } from './plans.ts';
import { openWorld } from './world.ts';

export interface CampaignOptions {
  /** Number of rounds; each tries one plan. */
  readonly rounds: number;
  /** Ends the campaign after the round in which this time is over, in milliseconds. Default: none. */
  readonly mostMs?: number;
  readonly seed: number;
  readonly workers: number;
  /** Address of a Redis server. */
  readonly redis: string;
  readonly onRound?: (round: Round) => void;
}

/** Outcome of a round. */
export interface Round {
  readonly plan: string;
  /** Number of responses by status while the plan was in force; `closed` for a connection that ended without a response. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** Time from the end of the plan until every endpoint answered 200, in milliseconds. */
  readonly recoveryMs: number;
}

export interface Campaign {
  readonly rounds: readonly Round[];
  /** Descriptions of everything that violates the rules of the campaign. */
  readonly failures: readonly string[];
}

const preload = fileURLToPath(new URL('preload.ts', import.meta.url));

/** Longest time for a response, in milliseconds: the timeout of the endpoints, with a margin for a busy machine. */
const LONGEST_MS = 10_000;
/** Longest time until everything works again, in milliseconds. */
const RECOVERY_MS = 15_000;
/** Time for which a plan is in force, in milliseconds. */
const ROUND_MS = 1500;

/** Lines of the log that no failure of the system explains. */
const faulty = /internal error|GatewayFault|TypeError|ReferenceError|RangeError|unhandled|uncaught/i;

/** Runs a gateway under requests and configuration changes while system operations fail. */
export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  const { seed, workers, redis, onRound, mostMs = Number.POSITIVE_INFINITY } = options;
  const directory = await mkdtemp(join(tmpdir(), 'failures-'));
  const at = (name: string) => join(directory, name);
  await writeFile(at('a.txt'), 'text');
  const world = await openWorld();
  const around: Surroundings = { world, port: await freePort(), redis, directory };
  const order = async (plan: Plan): Promise<void> => {
    await writeFile(at('plan.new'), JSON.stringify(plan));
    await rename(at('plan.new'), at('plan.json'));
  };
  const save = async (revision: number): Promise<void> => {
    await writeFile(at('gateway.new'), JSON.stringify(configuration(revision, around)));
    await rename(at('gateway.new'), at('gateway.json'));
  };
  await order(noFailures);
  await save(0);
  const gateway = await startGatewayProcess({
    file: at('gateway.json'),
    workers,
    adminPort: await freePort(),
    stateDirectory: at('state'),
    nodeOptions: ['--max-old-space-size=256', '--import', preload],
    environment: { SLUICE_FAILURES: at('plan.json') },
  });
  const rounds: Round[] = [];
  const failures: string[] = [];
  const startedAt = performance.now();
  try {
    for (let count = 1; count <= options.rounds && performance.now() - startedAt < mostMs; count++) {
      const [name, plan] = plans[(seed + count) % plans.length]!;
      const watch = new Watch(around.port);
      await order({ ...plan, seed: seed + count });
      await delay(50);
      const saving = save(count);
      await watch.load(ROUND_MS);
      await saving;
      await order(noFailures);
      const round = {
        plan: name,
        statuses: watch.statuses,
        slowestMs: Math.round(watch.slowestMs),
        recoveryMs: await recovered(gateway, around.port, count),
      };
      rounds.push(round);
      onRound?.(round);
      if (watch.slowestMs > LONGEST_MS) failures.push(`${name}: a response took ${round.slowestMs} ms`);
      if (round.recoveryMs === Number.POSITIVE_INFINITY) {
        failures.push(
          `${name}: not recovered after ${RECOVERY_MS} ms: ${await whatIsWrong(gateway, around.port, count)}`,
        );
        break;
      }
    }
  } catch (error) {
    failures.push((error as Error).message);
  }
  const code = await gateway.stop();
  // A failure to write the output is ignored, because the plan causes it.
  const isOutput = gateway.output().includes('cannot write to standard output');
  if (code !== 0 && !isOutput) failures.push(`the gateway ended with ${code}`);
  const lines = gateway
    .output()
    .split('\n')
    .filter((line) => faulty.test(line));
  for (const line of new Set(lines.map((line) => line.replace(/^\S+ \S+ /, '')))) failures.push(line);
  if (failures.length > 0) failures.push(gateway.output().slice(-3000));
  await world.close();
  await rm(directory, { recursive: true, force: true });
  return { rounds, failures };
}

/** Clients that send requests, and the responses that they receive. */
class Watch {
  readonly statuses: Record<string, number> = {};
  slowestMs = 0;
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  async load(ms: number): Promise<void> {
    const end = performance.now() + ms;
    const agent = new Agent({ keepAlive: true });
    const client = async (first: number): Promise<void> => {
      for (let at = first; performance.now() < end; at++) {
        const from = performance.now();
        const status = await ask(this.#port, paths[at % paths.length]!, agent);
        this.slowestMs = Math.max(this.slowestMs, performance.now() - from);
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        // One of the clients disconnects before its response arrives.
        if (at % 5 === 0) await ask(this.#port, paths[at % paths.length]!, agent, 1);
        await delay(2);
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, at) => client(at)));
    agent.destroy();
  }
}

/** @param mostMs time after which the client disconnects. */
function ask(port: number, path: string, agent: Agent, mostMs = 2 * LONGEST_MS): Promise<string> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path, agent, timeout: mostMs }, (response) => {
      response.resume();
      response.once('close', () => resolve(String(response.statusCode)));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve('closed'));
  });
}

async function whatIsWrong(gateway: GatewayProcess, port: number, revision: number): Promise<string> {
  if (gateway.child.exitCode !== null) return `the process ended with ${gateway.child.exitCode}`;
  const agent = new Agent();
  const statuses = await Promise.all(paths.map(async (path) => `${path} ${await ask(port, path, agent)}`));
  const wrong = statuses.filter((status) => !status.endsWith(' 200'));
  const served = await gateway
    .admin('GET', '/v1/config?pointer=/name')
    .then(({ body }) => JSON.stringify(body), String);
  if (!served.includes(`revision ${revision}"`)) wrong.push(`revision ${revision} is not served: ${served}`);
  return wrong.join(', ');
}

/** @returns milliseconds until every endpoint answers 200 and the saved configuration is served. */
async function recovered(gateway: GatewayProcess, port: number, revision: number): Promise<number> {
  const from = performance.now();
  while (performance.now() - from < RECOVERY_MS) {
    if ((await whatIsWrong(gateway, port, revision)) === '') return Math.round(performance.now() - from);
    if (gateway.child.exitCode !== null) break;
    await delay(20);
  }
  return Number.POSITIVE_INFINITY;
}
