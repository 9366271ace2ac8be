import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Call } from '#contract';
import { canonicalHeaderName } from '../../kernel/contract/headers.ts';
import { Authority } from '../../plugins/auth/basic/authority.ts';
import { Comparisons } from '../../plugins/auth/basic/comparisons.ts';
import { Cooldown } from '../../plugins/clients/keys/cooldown.ts';
import { openAdmin } from '../admin/support.ts';
import { ask, Secure } from '../kernel/server/secure.ts';
import { entriesAdded } from '../support/added-entries.ts';
import { until } from '../support/conditions.ts';

describe('bounds of data that clients fill', function () {
  this.timeout(60_000);

  it('apply over HTTP/2 to streams and to bytes of unread bodies', async () => {
    const secure = new Secure();
    try {
      const held: ServerResponse[] = [];
      const backend = await secure.backend((_seen, response) => void held.push(response));
      const { port } = await secure.listen({
        use_h2c: true,
        timeout: '60s',
        endpoints: [{ endpoint: '/hold', backend: [{ host: [backend.url], url_pattern: '/' }] }],
      });
      const session = secure.session(port, 'http');
      const asked = Array.from({ length: 251 }, () => ask(session, { ':path': '/hold' }));
      await until(() => held.length === 250);
      const { maxConcurrentStreams, initialWindowSize } = session.remoteSettings;
      deepEqual([maxConcurrentStreams, initialWindowSize], [250, 256 * 1024]);
      equal(session.state.remoteWindowSize, 1024 * 1024);
      held.pop()!.end('{}');
      await until(() => held.length === 250);
      for (const response of held) response.end('{}');
      equal((await Promise.all(asked)).length, 251);
    } finally {
      await secure.close();
      secure.made.remove();
    }
  });

  it('limit the cache of header names to a thousand', () => {
    const added = entriesAdded(() => {
      for (let at = 0; at < 1500; at++) equal(canonicalHeaderName(`x-bounds-${at}`), `X-Bounds-${at}`);
    });
    ok(added <= 1000);
    equal(
      entriesAdded(() => canonicalHeaderName(`x-${'a'.repeat(64)}`)),
      0,
    );
  });

  it('drop the oldest of more than ten thousand unknown key IDs', () => {
    const cooldown = new Cooldown(1000, () => 0);
    for (let at = 0; at < 10_000; at++) cooldown.add(`k${at}`);
    equal(cooldown.has('k0'), true);
    cooldown.add('one more');
    deepEqual([cooldown.has('k0'), cooldown.has('k1'), cooldown.has('one more')], [false, true, true]);
  });

  it('reject passwords while a thousand are waiting for comparison', async () => {
    const comparisons = new Comparisons();
    let waiting = 0;
    let comparing = comparisons.compare('p', 'h');
    const results: Promise<unknown>[] = [];
    while (comparing) {
      waiting++;
      results.push(comparing.result.catch(() => {}));
      comparing = comparisons.compare('p', 'h');
    }
    // Adds four, because up to four threads each run a comparison in addition to the waiting ones.
    ok(waiting > 1000 && waiting <= 1004);
    await comparisons.close();
  });

  it('keep at most ten thousand verified credentials', async () => {
    let compared = 0;
    const comparisons = {
      compare() {
        compared++;
        return { result: Promise.resolve(true), drop() {} };
      },
    } as unknown as Comparisons;
    const authority = new Authority(new Map([['ada', 'hash']]), comparisons, { now: () => 0 });
    const enter = async (password: string) => {
      const header = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
      equal(await authority.admit(header, new Call()), 'ada');
    };
    for (let at = 0; at <= 10_000; at++) await enter(`p${at}`);
    await enter('p10000');
    equal(compared, 10_001);
    await enter('p0');
    equal(compared, 10_002);
  });

  it('close connections to the admin port beyond 512', async () => {
    const admin = await openAdmin({ version: 3, endpoints: [] });
    const sockets: Socket[] = [];
    try {
      const [, host, port] = /^(.*):(\d+)$/.exec(admin.admin.address!)!;
      const open = async (): Promise<Socket> => {
        const socket = connect(Number(port), host);
        sockets.push(socket.on('error', () => {}).resume());
        await until(() => !socket.connecting);
        return socket;
      };
      for (let at = 0; at < 512; at++) await open();
      const beyond = await open();
      await until(() => beyond.destroyed);
      equal(sockets.filter(({ destroyed }) => destroyed).length, 1);
    } finally {
      for (const socket of sockets) socket.destroy();
      await admin.close();
    }
  });
});
