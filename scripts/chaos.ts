// Reloads under load, for a long time: `node scripts/chaos.ts [--reloads 1000] [--requests 1000000] [--workers 1]`.
import { parseArgs } from 'node:util';
import { type Progress, runChaos } from './chaos/run.ts';

const { values } = parseArgs({
  options: {
    reloads: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '1' },
  },
});

const startedAt = performance.now();

function print({ reloads, broken, tally, usage }: Progress): void {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const processes = usage.processes.map(({ residentMib, descriptors }) => `${residentMib} MiB/${descriptors} fds`);
  console.log(
    `${seconds} s: ${reloads} reloads, ${broken} refused, ${tally.requests} requests, ${tally.events} events, ` +
      `${tally.failures.length} failures; ${processes.join(', ')}; heap ${usage.heapMib.join('/')} MiB`,
  );
}

const outcome = await runChaos({
  reloads: Number(values.reloads),
  requests: Number(values.requests),
  workers: Number(values.workers),
  onProgress: print,
});
print(outcome);
for (const failure of outcome.tally.failures.slice(0, 20)) console.log(failure);
process.exitCode = outcome.tally.failures.length === 0 ? 0 : 1;
