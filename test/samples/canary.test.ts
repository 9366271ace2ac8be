import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { createFolder, type Folder, sluiceIn } from '../kernel/cli/command.ts';
import { type Process, startProcess } from '../kernel/cli/running.ts';
import { freePort } from '../support/conditions.ts';
import { followGuide } from './guide.ts';

describe('the sample "canary"', function () {
  this.timeout(120_000);
  let folder: Folder;
  let upstream: Server;
  let gateway: Process;
  let port: number;
  let env: NodeJS.ProcessEnv;
  let text: string;

  before(async () => {
    folder = createFolder();
    upstream = createUpstream().listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port: at } = upstream.address() as AddressInfo;
    text = readFileSync('samples/canary/gateway.json', 'utf8').replace('127.0.0.1:8081', `127.0.0.1:${at}`);
    folder.write('gateway.json', text);
    port = await freePort();
    const admin = `127.0.0.1:${await freePort()}`;
    env = { GATEWAY_ADMIN_LISTEN: admin, GATEWAY_STATE_DIR: folder.path('state'), GATEWAY_ADMIN_TOKEN: '' };
    gateway = startProcess(env, 'run', '--no-watch', '-p', String(port), folder.path('gateway.json'));
    await gateway.printed(/the token of the admin API is in/);
  });
  after(async () => {
    await gateway.stop();
    upstream.close();
    upstream.closeAllConnections();
    folder.remove();
  });

  /** Status and body of the response to one caller. */
  const ask = async (user: number): Promise<readonly [number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}/checkout/1`, { headers: { 'X-User': `user-${user}` } });
    return [response.status, await response.text()];
  };
  const askAll = async () => {
    const responses = [];
    for (let user = 0; user < 100; user++) responses.push(await ask(user));
    return responses;
  };

  it('has a guide whose commands print the output that it shows', async () => {
    const admin = await freePort();
    await followGuide('canary', { ports: { 9180: admin }, env: { GATEWAY_ADMIN_LISTEN: `127.0.0.1:${admin}` } });
  });

  it('returns all callers to their previous version when the guard rolls a failing canary back', async () => {
    const before = await askAll();
    equal(before.filter(([status]) => status === 200).length, 100);
    const canaries = before.filter(([, body]) => body.includes('/v2/')).length;
    ok(canaries >= 3 && canaries <= 20, `${canaries} of 100 callers are on the canary`);

    const failing = text.replace('"weight": 90', '"weight": 70').replace('"weight": 10', '"weight": 30');
    folder.write('gateway.json', failing.replace('/echo/v2/', '/v3/'));
    let isDecided = false;
    const reload = sluiceIn(env, 'reload', '--guard', '60s').finally(() => {
      isDecided = true;
    });
    const failed = new Set<number>();
    for (let user = 0; !isDecided; user = (user + 1) % 100) {
      const [status] = await ask(user);
      if (status === 500) failed.add(user);
    }
    const { code, err } = await reload;
    equal(code, 1);
    match(
      err,
      /revision 2 was rolled back: GET \/checkout\/\{user\}: errors rose from 0\.0 % to \d+\.\d % .*; now serving revision 3/,
    );
    ok(failed.size > canaries, `${failed.size} callers were on the failing canary`);
    deepEqual(await askAll(), before);
    match((await sluiceIn(env, 'history')).out, /^3 .* guard .*\n2 .* rolled-back/m);
  });
});
