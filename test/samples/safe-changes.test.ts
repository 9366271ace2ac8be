import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createFolder, type Folder, sluice, sluiceIn } from '../kernel/cli/command.ts';
import { type Process, startProcess } from '../kernel/cli/running.ts';
import { freePort } from '../support/conditions.ts';
import { followGuide } from './guide.ts';

const sample = 'samples/safe-changes/gateway.json';

describe('the sample "safe-changes"', function () {
  this.timeout(60_000);
  let folder: Folder;
  let gateway: Process;
  let admin: string;
  let env: NodeJS.ProcessEnv;
  const text = readFileSync(sample, 'utf8');
  const guide = readFileSync('samples/safe-changes/README.md', 'utf8');
  const call = (...args: string[]) => sluiceIn(env, ...args);

  before(async () => {
    folder = createFolder();
    folder.write('gateway.json', text);
    admin = `127.0.0.1:${await freePort()}`;
    env = { GATEWAY_ADMIN_LISTEN: admin, GATEWAY_STATE_DIR: folder.path('state'), GATEWAY_ADMIN_TOKEN: '' };
    gateway = startProcess(env, 'run', '-p', String(await freePort()), folder.path('gateway.json'));
    await gateway.printed(/the token of the admin API is in/);
  });
  after(async () => {
    await gateway.stop();
    folder.remove();
  });

  it('has a guide whose commands print the output that it shows', async () => {
    const port = await freePort();
    await followGuide('safe-changes', { ports: { 9180: port }, env: { GATEWAY_ADMIN_LISTEN: `127.0.0.1:${port}` } });
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', sample);
    deepEqual([code, err], [0, '']);
  });

  it('shows a change before it is applied', async () => {
    folder.write('next.json', text.replace('"allow": ["id", "name"]', '"allow": ["id"]'));
    equal((await call('check', folder.path('next.json'))).code, 0);
    const { code, out } = await call('diff', folder.path('next.json'), '--admin', admin);
    equal(code, 1);
    match(out, /GET \/users\/\{user\}/);
  });

  it('applies a saved file under a guard, and rolls it back', async () => {
    folder.write('gateway.json', readFileSync(folder.path('next.json'), 'utf8'));
    await gateway.printed(/revision 2/);
    match((await call('status')).out, /guard/);
    match((await call('history')).out, /^2 /m);
    match((await call('rollback', '1')).out, /^now serving revision 3 /);
  });

  it('reloads the file under a guard with the command of the guide', async () => {
    const command = /^ {4}sluice (reload --guard )60s$/m.exec(guide)![1]!;
    const { code, out, err } = await call(...`${command}1s`.split(' '));
    equal(code, 0, out + err);
  });

  it('reads its status and applies a configuration with the curl commands of the guide', async () => {
    const commands = /^ {4}TOKEN=[\s\S]*?(?=\n\n)/m
      .exec(guide)![0]
      .replace(/~\S+\.token/, folder.path(`state/admin-${admin.replace(':', '-')}.token`))
      .replaceAll('127.0.0.1:9180', admin)
      .replaceAll('curl ', 'curl -sS --fail-with-body ');
    const { stdout } = await promisify(execFile)('bash', ['-ec', commands], { cwd: folder.path('.') });
    match(stdout, /"applied"/);
  });
});
