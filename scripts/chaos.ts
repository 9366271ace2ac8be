// Reloads under load: `node scripts/chaos.ts [--reloads 1000] [--requests 1000000] [--workers 1]`.
// The table of components and what fails: `node scripts/chaos.ts --table > test/CHAOS.md`.
// A system that fails: `node scripts/chaos.ts --minutes 30 [--seed 1] [--workers 1]`; needs redis-server.
import { parseArgs } from 'node:util';
import { startRedis } from '../test/support/redis.ts';
import { printComponents } from './chaos/components.ts';
import { runCampaign } from './chaos/failures/campaign.ts';
import { type Progress, runChaos } from './chaos/run.ts';

const { values } = parseArgs({
  options: {
    reloads: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    table: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});

const startedAt = performance.now();
const workers = Number(values.workers);

function print({ reloads, broken, tally, usage }: Progress): void {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const processes = usage.processes.map(({ residentMib, descriptors }) => `${residentMib} MiB/${descriptors} fds`);
  console.log(
    `${seconds} s: ${reloads} reloads, ${broken} refused, ${tally.requests} requests, ${tally.events} events, ` +
      `${tally.failures.length} failures; ${processes.join(', ')}; heap ${usage.heapMib.join('/')} MiB`,
  );
}

async function reloadUnderLoad(): Promise<readonly string[]> {
  const { reloads, requests } = values;
  const outcome = await runChaos({ reloads: Number(reloads), requests: Number(requests), workers, onProgress: print });
  print(outcome);
  return outcome.tally.failures;
}

async function failFor(minutes: number): Promise<readonly string[]> {
  const seed = Number(values.seed);
  console.log(`--minutes ${minutes} --seed ${seed} --workers ${workers}`);
  const redis = await startRedis();
  const { rounds, failures } = await runCampaign({
    ...{ seed, workers, redis: redis.address, rounds: Number.POSITIVE_INFINITY, mostMs: minutes * 60_000 },
    onRound: ({ plan, statuses, slowestMs, recoveryMs }) => {
      const seen = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
      console.log(`${plan}: ${seen.join(', ')}; slowest ${slowestMs} ms; recovered in ${recoveryMs} ms`);
    },
  }).finally(() => redis.close());
  console.log(`${rounds.length} rounds`);
  return failures;
}

async function runAll(): Promise<readonly string[]> {
  return values.minutes === undefined ? reloadUnderLoad() : failFor(Number(values.minutes));
}

if (values.table) process.stdout.write(printComponents());
else {
  const failures = await runAll();
  for (const failure of failures.slice(0, 20)) console.log(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
