import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { start } from './children.ts';

/** Whether there is a Redis to count in. */
export const hasRedis = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

let port: number | undefined;

/** The component that connects to a Redis, which is started at first use and ends with the benchmark. */
export function counters(folder: string): object {
  if (port === undefined) {
    // Nobody else has it: processes that run at a time differ in their numbers.
    port = 20_000 + (process.pid % 10_000);
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    start(['redis-server', ...options], join(folder, 'redis.log'));
  }
  return { redis: { connection_pools: [{ name: 'counters', address: `127.0.0.1:${port}` }] } };
}
