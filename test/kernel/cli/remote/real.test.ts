import { equal, match } from 'node:assert/strict';
import { freePort } from '../../../support/conditions.ts';
import { createFolder, type Folder, sluiceIn } from '../command.ts';
import { type Process, startCommand, startProcess } from '../running.ts';

const service = { version: 3, listen_ip: '127.0.0.1' };
const endpoint = { endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] };

describe('the remote commands and a real gateway', function () {
  this.timeout(60_000);
  let folder: Folder;
  let gateway: Process;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    folder = createFolder();
    folder.write('gateway.json', { ...service, endpoints: [] });
    env = {
      GATEWAY_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
      GATEWAY_STATE_DIR: folder.path('state'),
      GATEWAY_ADMIN_TOKEN: '',
    };
    gateway = startProcess(env, 'run', '--no-watch', '-p', String(await freePort()), '-c', folder.path('gateway.json'));
    await gateway.printed(/the token of the admin API is in/);
  });
  afterEach(async () => {
    await gateway.stop();
    folder.remove();
  });

  const call = (...args: string[]) => sluiceIn(env, ...args);
  const save = (config: object) => folder.write('gateway.json', { ...service, ...config });

  it('work with the token file of the gateway, and show its status', async () => {
    const { code, out } = await call('status');
    equal(code, 0);
    match(out, /^revision +1-[0-9a-f]{12}$/m);
    match(out, /^endpoints +0$/m);
  });

  it('report that a wrong token is rejected', async () => {
    const { code, err } = await sluiceIn({ ...env, GATEWAY_ADMIN_TOKEN: 'wrong' }, 'reload');
    equal(code, 1);
    match(err, /GATEWAY_ADMIN_TOKEN/);
  });

  it('reload, list the history, compare and roll back', async () => {
    save({ endpoints: [endpoint] });
    match((await call('diff', folder.path('gateway.json'))).out, /^\+ GET \/a {2}\S+gateway\.json:5:5$/m);
    const reloaded = await call('reload', '--message', 'one more');
    equal(reloaded.code, 0);
    match(reloaded.out, /^now serving revision 2 .*\n\+ GET \/a\n$/);
    match((await call('reload')).out, /^unchanged: revision 2/);
    match((await call('history')).out, /^2 .* serves +one more\n1 .* start .* applied$/m);
    const compared = await call('diff', '1', '2', '--format', 'json');
    equal(compared.code, 1);
    equal(JSON.parse(compared.out).summary.added, 1);
    match((await call('rollback', '1')).out, /^now serving revision 3 .*\n- GET \/a\n$/);
    match((await call('status')).out, /^revision +3-[0-9a-f]{12}, the file differs from the active configuration$/m);
  });

  it('exit with status 1 and the place of the error if the file is invalid', async () => {
    save({ endpoints: [{ ...endpoint, timeout: '2' }] });
    const { code, err } = await call('reload');
    equal(code, 1);
    match(err, /^ERROR The configuration is not valid; revision 1 stays active\n.*gateway\.json:\d+:\d+: error: /);
    match((await call('status')).out, /^last reload +failed \(api\)/m);
  });

  it('exit with status 4 if another revision is active', async () => {
    save({ endpoints: [endpoint] });
    const { code, err } = await call('reload', '--if-match', '7-0123456789ab');
    equal(code, 4);
    match(err, /^ERROR /);
    const { code: rolled } = await call('rollback', '1', '--if-match', '7-0123456789ab');
    equal(rolled, 4);
  });

  it('wait for the result of the guard', async () => {
    save({ endpoints: [endpoint] });
    const { code, err } = await call('reload', '--guard', '1s');
    equal(code, 0);
    match(err, /too little traffic for the change guard to evaluate revision 2: 0 calls; .*\n$/);
  });

  it('receive events', async () => {
    const events = startCommand(env, 'events', '--json', '--types', 'reload.*');
    // Produces events until the command prints one, because it does not report when it is connected.
    const happening = (async () => {
      while (events.isRunning) await call('reload', '--force');
    })();
    await events.printed(/"type":"reload\.succeeded","data":\{.*"result":"applied"/);
    events.kill('SIGINT');
    equal(await events.ended, 0);
    await happening;
  });

  it('do not delay the shutdown of the gateway, even while events are followed', async () => {
    const events = startCommand(env, 'events');
    const happening = (async () => {
      while (gateway.isRunning) await call('reload', '--force');
    })();
    await events.printed(/reload\.succeeded/);
    gateway.kill('SIGTERM');
    equal(await gateway.ended, 0);
    await happening;
    events.kill('SIGINT');
    await events.ended;
  });

  it('exit with status 3 after the gateway has stopped', async () => {
    gateway.kill('SIGTERM');
    equal(await gateway.ended, 0);
    equal((await call('status')).code, 3);
  });
});
