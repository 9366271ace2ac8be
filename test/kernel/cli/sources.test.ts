import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, until } from '../../support/conditions.ts';
import { startEtcd, type TestEtcd, withoutEtcd } from '../../support/etcd.ts';
import { createFolder, type Folder, sluiceIn } from './command.ts';
import { type Process, startProcess } from './running.ts';

/** A configuration with one endpoint without a backend. */
function configuration(path: string): string {
  const endpoint = { endpoint: path, backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] };
  return JSON.stringify({ version: 3, listen_ip: '127.0.0.1', endpoints: [endpoint] }, null, 2);
}

(withoutEtcd === null ? describe : describe.skip)(
  `a configuration in a store${withoutEtcd ? ` (${withoutEtcd})` : ''}`,
  function () {
    this.timeout(180_000);
    let etcd: TestEtcd;
    let folder: Folder;
    let env: NodeJS.ProcessEnv;
    let gateway: Process | null = null;
    let address: string;
    let port: number;
    let tests = 0;

    before(async () => {
      etcd = await startEtcd();
    });
    after(() => etcd?.close());

    beforeEach(async () => {
      folder = createFolder();
      address = `etcd://${etcd.host}/test${++tests}`;
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

    const push = (text: string, ...flags: string[]) =>
      sluiceIn(env, 'push', folder.write('gateway.json', text), address, ...flags);
    const isServed = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status !== 404;
    const statusOf = async () => JSON.parse((await sluiceIn(env, 'status', '--json')).out);

    async function start(...flags: string[]): Promise<void> {
      port = await freePort();
      gateway = startProcess(env, 'run', address, '-p', String(port), ...flags);
      await gateway.printed(/Listening on port/);
    }

    for (const [kind, ...flags] of [['a single process'], ['workers', '--workers', '2']]) {
      it(`is served and followed by ${kind}`, async () => {
        await push(configuration('/one'));
        await start(...flags);
        ok(await isServed('/one'));
        equal((await push(configuration('/two'))).code, 0);
        await until(() => isServed('/two'));
        ok(!(await isServed('/one')));
        const { store } = await statusOf();
        equal(store.address, address);
        equal(store.state, 'current');
      });
    }

    it('stays active while the store has one that is not valid, and after a restart', async () => {
      await push(configuration('/one'));
      await start();
      await etcd.put(`test${tests}/gateway.json`, '{"version":3,"endpoints":7}');
      await gateway!.printed(/endpoints.*(?:array|list)/);
      ok(await isServed('/one'));
      await gateway!.stop();
      await start();
      ok(await isServed('/one'));
      match(gateway!.output, /resuming revision \d+/);
    });

    it('is served from the copy of the last one if the store does not respond', async () => {
      await push(configuration('/one'));
      await start();
      await gateway!.stop();
      await etcd.stop();
      await start();
      ok(await isServed('/one'));
      match(gateway!.output, /WARNING etcd:\/\/\S+ cannot be read: .*; starting with the copy of version \d+/);
      equal((await statusOf()).store.state, 'unreachable');
      const metrics = await (await fetch(`http://${env['GATEWAY_ADMIN_LISTEN']}/metrics`)).text();
      match(metrics, /^sluice_config_store_current 0$/m);
      await etcd.start();
      await push(configuration('/two'));
      await until(() => isServed('/two'));
    });

    it('prevents a start if the store has none and no copy exists', async () => {
      const { code, err } = await sluiceIn(env, 'run', address);
      equal(code, 1);
      equal(err, `ERROR ${address} has no configuration\n`);
    });

    describe('is written by push', () => {
      it('after a check', async () => {
        const { code, err } = await push('{"version":3,"endpoints":7}');
        equal(code, 1);
        match(err, /gateway\.json:1:/);
        equal((await sluiceIn(env, 'pull', address)).code, 3);
      });

      it('if the store has the expected version', async () => {
        const first = await push(configuration('/one'), '--expect', 'none');
        equal(first.code, 0);
        const [, version] = /has version (\d+)\n$/.exec(first.out)!;
        equal((await push(configuration('/two'), '--expect', 'none')).code, 1);
        equal((await push(configuration('/two'), '--expect', version!)).code, 0);
        const { code, err } = await push(configuration('/three'), '--expect', version!);
        equal(code, 1);
        match(err, new RegExp(`was not changed: the store has revision \\d+, not ${version}\n$`));
      });

      it('with the name that gateways read it by', async () => {
        const file = folder.write('next.json', configuration('/one'));
        equal((await sluiceIn(env, 'push', file, address)).code, 0);
        await start();
        ok(await isServed('/one'));
      });

      it('not in another format than that of its name in the store', async () => {
        const yaml = folder.write('next.yaml', 'version: 3\nlisten_ip: 127.0.0.1\nendpoints: []\n');
        const single = await sluiceIn(env, 'push', yaml, `${address}/eu.json`);
        equal(single.code, 3);
        match(single.err, /is named eu\.json in the store, and .*next\.yaml has another format$/m);
        await push(configuration('/one'));
        equal((await sluiceIn(env, 'push', yaml, address)).code, 3);
        match((await sluiceIn(env, 'pull', address)).out, /\/one/);
      });

      it('with all files of a directory, and the other files stay when one file is written', async () => {
        const files = createFolder();
        files.write('gateway.json', configuration('/one'));
        files.write('part.json', '[]');
        equal((await sluiceIn(env, 'push', files.path(''), address)).code, 0);
        await push(configuration('/two'));
        files.remove();
        const output = folder.path('pulled');
        equal((await sluiceIn(env, 'pull', address, '-o', output)).code, 0);
        equal(readFileSync(`${output}/part.json`, 'utf8'), '[]');
        match(readFileSync(`${output}/gateway.json`, 'utf8'), /\/two/);
      });
    });

    it('is printed by pull', async () => {
      const text = configuration('/one');
      await push(text);
      const { code, out, err } = await sluiceIn(env, 'pull', address);
      deepEqual([code, out], [0, text]);
      match(err, /^etcd:\/\/\S+ has version \d+\n$/);
    });

    it('is compared by diff', async () => {
      await push(configuration('/one'));
      const file = folder.write('next.json', configuration('/two'));
      const { code, out } = await sluiceIn(env, 'diff', address, file);
      equal(code, 1);
      match(out, /\/two/);
      equal((await sluiceIn(env, 'diff', file, file)).code, 0);
    });

    describe('at an address', () => {
      it('of an unknown kind is rejected with the known ones', async () => {
        const { code, err } = await sluiceIn(env, 'run', 'zookeeper://host/key');
        equal(code, 1);
        match(err, /zookeeper:\/\/ .*\betcd\b.*\bgit\+https\b/);
      });

      it('with a password is shown without it, in messages, status and the state directory', async () => {
        const named = address.replace('etcd://', 'etcd://ada:s3cret@');
        const { code, err } = await sluiceIn(env, 'run', named);
        equal(code, 1);
        doesNotMatch(err, /s3cret/);
        ok(!existsSync(folder.path('state')) || !execFileSync('find', [folder.path('state')]).includes('s3cret'));
      });
    });

    describe('on an HTTP server', () => {
      let server: Server;
      let text: string;

      beforeEach(async () => {
        text = configuration('/one');
        server = createServer((_request, response) => response.end(text)).listen(0, '127.0.0.1');
        await once(server, 'listening');
        address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gateway.json`;
      });
      afterEach(() => {
        server.closeAllConnections();
        server.close();
      });

      it('is read at the interval', async () => {
        await start('--poll-interval', '1s');
        text = configuration('/two');
        await until(() => isServed('/two'));
      });

      it('is read by a reload and on SIGHUP', async () => {
        await start('--poll-interval', '1h');
        text = configuration('/two');
        equal((await sluiceIn(env, 'reload')).code, 0);
        ok(await isServed('/two'));
        text = configuration('/three');
        gateway!.kill('SIGHUP');
        await until(() => isServed('/three'));
      });

      it('cannot be written', async () => {
        const { code, err } = await push(configuration('/two'));
        equal(code, 3);
        match(err, /this kind of store cannot be written by sluice push/);
      });
    });

    for (const interval of ['often', '10ms', '-1s']) {
      it(`is not read at the interval ${interval}`, async () => {
        const { code, err } = await sluiceIn(env, 'run', address, `--poll-interval=${interval}`);
        equal(code, 2);
        match(err, /not an interval of at least 1s/);
      });
    }
  },
);
