import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort, until } from '../support/conditions.ts';
import { INSTALLATION_MS, isInstalled } from '../support/debian.ts';
import { type ServedCopy, serveCopy } from './serve-copy.ts';

describe('the sample "redis-check"', () => {
  let port: number;
  let redis: ChildProcess;
  let served: ServedCopy;

  const command = (...args: string[]) =>
    spawnSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).stdout.trim();
  const startRedis = async (): Promise<void> => {
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], { stdio: 'ignore' });
    await until(() => command('ping') === 'PONG');
  };
  const stopRedis = async (): Promise<void> => {
    const ended = once(redis, 'exit');
    redis.kill('SIGKILL');
    await ended;
  };
  const status = async () => (await served.get('/users/1')).statusCode;

  before(async function () {
    this.timeout(INSTALLATION_MS);
    if (!isInstalled('redis-server')) this.skip();
    port = await freePort();
    await startRedis();
    served = await serveCopy('redis-check', { ':6379': `:${port}`, '"200ms"': '"10s"' });
    await served.gateway.listen();
  });
  after(async () => {
    await served?.close();
    if (redis) await stopRedis();
  });

  it('rejects addresses in the set from the next request on, and accepts all others', async () => {
    await until(async () => (await status()) === 200);
    command('sadd', 'blocked', '127.0.0.1');
    equal(await status(), 403);
    command('srem', 'blocked', '127.0.0.1');
    equal(await status(), 200);
  });

  it('keeps its connection over a reload', async () => {
    const connections = () => /total_connections_received:(\d+)/.exec(command('info', 'stats'))![1];
    const asked = Number(connections());
    await served.gateway.reload();
    deepEqual([await status(), Number(connections())], [200, asked + 1], 'the command line alone has come since');
  });

  it('rejects all requests while Redis is down, and reconnects once it is back', async () => {
    await stopRedis();
    await until(async () => (await status()) === 503);
    await startRedis();
    await until(async () => (await status()) === 200);
  }).timeout(60_000);
});
