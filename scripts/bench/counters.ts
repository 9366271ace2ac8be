import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { start } from './children.ts';
import type { Attached, ServiceComponents } from './scenario.ts';

/** Components that count in Redis, by scenario name; empty when Redis is not on PATH. */
export const redisComponents: readonly (readonly [name: string, attach: (folder: string) => Attached])[] =
  spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0
    ? [
        ['rate-limit-redis', limit],
        ['rate-limit-service-redis', serviceLimit],
        ['quota', quota],
      ]
    : [];

let port: number | undefined;

/** Component that connects to a Redis server, which is started on first use and ends with the benchmark. */
function redis(folder: string): ServiceComponents {
  if (port === undefined) {
    // A port that no other benchmark uses at the same time, because it depends on the process ID.
    port = 20_000 + (process.pid % 10_000);
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    start(['redis-server', ...options], join(folder, 'redis.log'));
    waitFor(port);
  }
  const timeouts = { command_timeout: '5s', dial_timeout: '5s' };
  return { redis: { connection_pools: [{ name: 'counters', address: `127.0.0.1:${port}`, ...timeouts }] } };
}

/** Waits for the server, because a gateway that cannot connect to it would reject the first request. @throws Error after some seconds. */
function waitFor(at: number): void {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (
      spawnSync('redis-cli', ['-p', String(at), 'ping'])
        .stdout?.toString()
        .startsWith('PONG')
    )
      return;
  }
  throw new Error(`redis-server does not respond on port ${at}`);
}

function limit(folder: string): Attached {
  const both = { connection_name: 'counters', max_rate: 1e6, client_max_rate: 1e6, strategy: 'ip' };
  return { service: redis(folder), endpoint: { 'qos/ratelimit/router/redis': both } };
}

function serviceLimit(folder: string): Attached {
  const both = { connection_name: 'counters', max_rate: 1e6, client_max_rate: 1e6, strategy: 'ip' };
  return { service: { ...redis(folder), 'qos/ratelimit/service/redis': both } };
}

/** Two windows of one caller. */
function quota(folder: string): Attached {
  const limits = ['day', 'month'].map((unit) => ({ amount: 1e9, unit }));
  const processor = { name: 'bench', connection_name: 'counters', rules: [{ name: 'gold', limits }] };
  const tiers = [{ rule_name: 'gold', tier_value: 'gold', strategy: 'ip' }];
  return {
    service: { ...redis(folder), 'governance/processors': { quotas: [processor] } },
    endpoint: { 'governance/quota': { quota_name: 'bench', tier_key: 'X-Plan', tiers } },
    headers: [{ 'x-plan': 'gold' }],
  };
}
