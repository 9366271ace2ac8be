import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { startBackend } from './backend.ts';
import { apply, offerBroken, type Target } from './changes.ts';
import { clients, type Tally } from './clients.ts';
import { configuration } from './configuration.ts';
import { startGatewayProcess, type Usage } from './gateway.ts';

export interface ChaosOptions {
  /** Number of valid configurations to apply; a broken one follows every third. */
  readonly reloads: number;
  /** Minimum number of requests to send. */
  readonly requests: number;
  readonly workers: number;
  /** Called periodically with the progress. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly reloads: number;
  readonly broken: number;
  readonly tally: Tally;
  readonly usage: Usage;
}

/** Applies configurations, valid and broken, one after another under the load of all kinds of clients. */
export async function runChaos({ reloads, requests, workers, onProgress }: ChaosOptions): Promise<Progress> {
  const directory = await mkdtemp(join(tmpdir(), 'chaos-'));
  const backend = await startBackend();
  const places = { port: await freePort(), backend: backend.url };
  const file = join(directory, 'gateway.json');
  await writeFile(file, JSON.stringify(configuration(0, places)));
  const adminPort = await freePort();
  const gateway = await startGatewayProcess({ file, workers, adminPort, stateDirectory: directory });
  const target: Target = { gateway, file, places };
  const tally: Tally = { requests: 0, failures: [], latencies: [], events: 0 };
  let over = false;
  const running = clients.flatMap(([client, count]) =>
    Array.from({ length: count }, () => client(places.port, tally, () => over)),
  );
  let done = 0;
  let refusals = 0;
  const progress = async (): Promise<Progress> => ({
    reloads: done,
    broken: refusals,
    tally,
    usage: await gateway.usage(),
  });
  try {
    while ((done < reloads || tally.requests < requests) && tally.failures.length === 0) {
      await apply(target, ++done);
      if (done % 3 === 0) {
        await offerBroken(target, done);
        refusals++;
      }
      if (done % 50 === 0) onProgress?.(await progress());
    }
  } catch (error) {
    tally.failures.push(`${(error as Error).message}\n${gateway.output().slice(-2000)}`);
  }
  const last = await progress();
  over = true;
  await Promise.all(running);
  const code = await gateway.stop();
  if (code !== 0) tally.failures.push(`the gateway ended with ${code}: ${gateway.output().slice(-2000)}`);
  await backend.close();
  await rm(directory, { recursive: true, force: true });
  return last;
}
