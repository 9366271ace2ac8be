import { doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../support/conditions.ts';
import { createFolder, type Folder, sluiceIn, sluiceProcess } from './command.ts';
import { type Process, startProcess } from './running.ts';

const service = { version: 3, listen_ip: '127.0.0.1', endpoints: [] };

describe('run', function () {
  this.timeout(180_000);
  let folder: Folder;
  let env: NodeJS.ProcessEnv;
  let gateway: Process | null = null;

  beforeEach(async () => {
    folder = createFolder();
    folder.write('gateway.json', service);
    env = {
      GATEWAY_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
      GATEWAY_STATE_DIR: folder.path('state'),
      GATEWAY_ADMIN_TOKEN: 'sesame',
    };
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = null;
    folder.remove();
  });

  /** Starts the gateway. @returns the port it serves at, once it listens. */
  const start = async (...flags: string[]): Promise<number> => {
    const port = await freePort();
    gateway = startProcess(env, 'run', '-p', String(port), '-c', folder.path('gateway.json'), ...flags);
    await gateway.printed(/Listening on port/);
    return port;
  };
  const statusOf = async () => JSON.parse((await sluiceIn(env, 'status', '--json')).out);

  for (const [where, config, flags] of [
    ['in the configuration', { ...service, port: 0 }, []],
    ['on the command line', { ...service, port: 8080 }, ['-p', '0']],
  ] as const) {
    it(`serves at any free port if the port is 0 ${where}`, async () => {
      const file = folder.write('gateway.json', config);
      equal((await sluiceIn(env, 'check', '-t', '-c', file)).code, 0);
      gateway = startProcess(env, 'run', '-c', file, ...flags);
      await gateway.printed(/Listening on port: \d+/);
      const [, port] = /Listening on port: (\d+)/.exec(gateway.output)!;
      notEqual(port, '8080');
      equal((await fetch(`http://127.0.0.1:${port}/__health`)).status, 200);
    });
  }

  it('opens no admin port if its address is off', async () => {
    await start('--admin', 'off');
    gateway!.kill('SIGTERM');
    equal(await gateway!.ended, 0);
    doesNotMatch(gateway!.output, /admin/);
    match(gateway!.output, /^stopped$/m);
  });

  it('prefers the address of the flag to the address of the environment', async () => {
    const admin = `unix:${folder.path('admin.sock')}`;
    await start('--admin', admin);
    await gateway!.printed(/the admin API is available at unix:/);
    equal((await sluiceIn(env, 'status', '--admin', admin)).code, 0);
  });

  it('does not start if the requested admin port cannot be opened', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const admin = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const port = String(await freePort());
    const { code, err } = await sluiceProcess(
      env,
      'run',
      '-p',
      port,
      '-c',
      folder.path('gateway.json'),
      '--admin',
      admin,
    );
    taken.close();
    equal(code, 1);
    match(err, /ERROR .*address already in use/);
  });

  it('exits with status 0 when the admin API stops the gateway', async () => {
    await start();
    await gateway!.printed(/the admin API is available at/);
    const headers = { authorization: 'Bearer sesame' };
    const { status } = await fetch(`http://${env.GATEWAY_ADMIN_LISTEN}/v1/stop`, { method: 'POST', headers });
    equal(status, 202);
    equal(await gateway!.ended, 0);
  });

  it('serves in the given number of processes', async () => {
    const port = await start('--workers', '2');
    await gateway!.printed(/the admin API is available at/);
    equal((await fetch(`http://127.0.0.1:${port}/__health`)).status, 200);
    equal((await statusOf()).workers, 2);
    gateway!.kill('SIGTERM');
    equal(await gateway!.ended, 0);
  });

  it('keeps the history of its file over a restart', async () => {
    await start();
    gateway!.kill('SIGTERM');
    await gateway!.ended;
    folder.write('gateway.json', { ...service, echo_endpoint: true });
    await start();
    await gateway!.printed(/the admin API is available at/);
    equal((await statusOf()).revision, 2);
  });

  it('starts with the last good configuration only with --resume-last-good', async () => {
    await start();
    gateway!.kill('SIGTERM');
    await gateway!.ended;
    folder.write('gateway.json', { ...service, version: 5 });
    equal((await sluiceProcess(env, 'run', '-c', folder.path('gateway.json'))).code, 1);
    await start('--resume-last-good');
    await gateway!.printed(/the admin API is available at/);
    const { state, source } = await statusOf();
    equal(state, 'degraded');
    ok(source === 'resume', source);
  });

  it('logs INFO and above, with -d DEBUG too, and notes once that no log is configured', async () => {
    const missing = (level: string) =>
      new RegExp(
        `INFO: \\[SERVICE: Logging\\] logging at ${level} to standard output \\(configure telemetry/logging to change this\\)`,
      );
    await start('--admin', 'off');
    await gateway!.printed(missing('INFO'));
    await gateway!.printed(/Listening on/);
    doesNotMatch(gateway!.output, /ERROR|WARN|CRITICAL/);
    folder.write('gateway.json', { ...service, echo_endpoint: true });
    await gateway!.printed(/INFO: now serving revision 2 /);
    equal(gateway!.output.match(/SERVICE: Logging/g)?.length, 1);
    await gateway!.stop();
    await start('--admin', 'off', '-d');
    await gateway!.printed(missing('DEBUG'));
  });

  it('rejects an invalid number of workers', async () => {
    for (const workers of ['0', 'many', '1.5']) {
      equal((await sluiceIn(env, 'run', '-c', folder.path('gateway.json'), '--workers', workers)).code, 2);
    }
  });
});
