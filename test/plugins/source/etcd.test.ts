import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { type SourceAccess, SourceConflict } from '#contract';
import { plugin } from '../../../plugins/source/etcd.ts';
import { startEtcd, type TestEtcd, withoutEtcd } from '../../support/etcd.ts';
import { soon, testSources, textsIn } from '../../support/source-suite.ts';

(withoutEtcd === null ? describe : describe.skip)(
  `a configuration in etcd${withoutEtcd ? ` (${withoutEtcd})` : ''}`,
  () => {
    let etcd: TestEtcd;
    const sources = testSources(plugin);

    before(async () => {
      etcd = await startEtcd();
    });
    after(() => etcd?.close());

    afterEach(() => sources.close());

    const open = (key: string, access: Partial<SourceAccess> = {}) =>
      sources.open(`etcd://${etcd.host}/${key}`, access);

    it('is a key whose name ends like a configuration file', async () => {
      await etcd.put('single/gateway.yaml', 'version: 3');
      await etcd.put('single/gateway.yaml.old', 'version: 2');
      deepEqual(await textsIn(open('single/gateway.yaml')), { 'gateway.yaml': 'version: 3' });
    });

    it('is all keys below a prefix, the configuration first', async () => {
      await etcd.put('several/a/part.json', '[]');
      await etcd.put('several/gateway.json', '{}');
      await etcd.put('several2/gateway.json', '{"other":true}');
      const revision = await open('several').read(soon());
      deepEqual([...revision!.files.keys()], ['gateway.json', 'a/part.json']);
    });

    it('can be a key with another name, to which only one file is written', async () => {
      await etcd.put('named/eu.yaml', 'version: 3');
      const source = open('named/eu.yaml');
      deepEqual(await textsIn(source), { 'eu.yaml': 'version: 3' });
      const { version } = (await source.read(soon()))!;
      const files = new Map([
        ['eu.yaml', Buffer.from('1')],
        ['part.json', Buffer.from('2')],
      ]);
      await rejects(source.write!({ files, expected: version }, soon()));
      deepEqual(await textsIn(source), { 'eu.yaml': 'version: 3' });
    });

    it('is absent without keys', async () => {
      equal(await open('absent').read(soon()), null);
    });

    it('is rejected if no key below the prefix is named like a configuration', async () => {
      await etcd.put('unnamed/part.json', '[]');
      await rejects(open('unnamed').read(soon()), /the prefix unnamed\/ has no configuration/);
    });

    it('has versions in the order of the writes', async () => {
      await etcd.put('order/gateway.json', '1');
      const first = await open('order').read(soon());
      await etcd.put('order/gateway.json', '2');
      const second = await open('order').read(soon());
      ok(second!.order! > first!.order!);
    });

    describe('reports a change', () => {
      it('of the configuration', async () => {
        await etcd.put('watch/gateway.json', '1');
        const source = open('watch');
        const { version } = (await source.read(soon()))!;
        const changed = source.awaitChange!(version, soon());
        await etcd.put('watch/gateway.json', '2');
        await changed;
        deepEqual(await textsIn(source), { 'gateway.json': '2' });
      });

      it('that was made before the watch began', async () => {
        await etcd.put('before/gateway.json', '1');
        const source = open('before');
        const { version } = (await source.read(soon()))!;
        await etcd.put('before/gateway.json', '2');
        await source.awaitChange!(version, soon());
      });

      it('that removes a file', async () => {
        await etcd.put('remove/gateway.json', '1');
        await etcd.put('remove/part.json', '1');
        const source = open('remove');
        const { version } = (await source.read(soon()))!;
        const changed = source.awaitChange!(version, soon());
        await etcd.remove('remove/part.json');
        await changed;
        deepEqual(await textsIn(source), { 'gateway.json': '1' });
      });

      it('if the revision that was read has been compacted', async () => {
        await etcd.put('compacted/gateway.json', '1');
        const source = open('compacted');
        const { version } = (await source.read(soon()))!;
        await etcd.put('compacted/gateway.json', '2');
        await etcd.put('compacted/gateway.json', '3');
        const { header } = (await etcd.call('kv/range', { key: Buffer.from('x').toString('base64') })) as {
          header: { revision: string };
        };
        await etcd.call('kv/compaction', { revision: header.revision });
        await source.awaitChange!(version, soon());
      });

      it('not of other keys', async () => {
        await etcd.put('quiet/gateway.json', '1');
        await etcd.put('quieter/gateway.json', '1');
        const [source, other] = [open('quiet'), open('quieter')];
        const versions = [(await source.read(soon()))!.version, (await other.read(soon()))!.version];
        let hasChanged = false;
        const changed = source.awaitChange!(versions[0]!, soon()).then(() => {
          hasChanged = true;
        });
        const otherChanged = other.awaitChange!(versions[1]!, soon());
        await etcd.put('quieter/gateway.json', '2');
        await otherChanged;
        equal(hasChanged, false);
        await etcd.put('quiet/gateway.json', '2');
        await changed;
      });
    });

    describe('is written', () => {
      it('if the store has the expected version', async () => {
        await etcd.put('write/gateway.json', '1');
        await etcd.put('write/old.json', '1');
        const source = open('write');
        const { version } = (await source.read(soon()))!;
        const files = new Map([
          ['gateway.json', Buffer.from('2')],
          ['new.json', Buffer.from('2')],
        ]);
        const written = await source.write!({ files, expected: version }, soon());
        deepEqual(await textsIn(source), { 'gateway.json': '2', 'new.json': '2' });
        equal((await source.read(soon()))!.version, written);
      });

      it('for the first time only if the prefix has no keys', async () => {
        const source = open('create');
        const files = new Map([['gateway.json', Buffer.from('1')]]);
        await source.write!({ files, expected: null }, soon());
        await rejects(source.write!({ files, expected: null }, soon()), SourceConflict);
      });

      it('not after another change', async () => {
        await etcd.put('conflict/gateway.json', '1');
        const source = open('conflict');
        const { version } = (await source.read(soon()))!;
        await etcd.put('conflict/gateway.json', '2');
        const files = new Map([['gateway.json', Buffer.from('3')]]);
        await rejects(source.write!({ files, expected: version }, soon()), SourceConflict);
        deepEqual(await textsIn(source), { 'gateway.json': '2' });
      });

      it('by exactly one of several writers at the same time', async () => {
        await etcd.put('race/gateway.json', '0');
        const source = open('race');
        const { version } = (await source.read(soon()))!;
        const results = await Promise.allSettled(
          ['1', '2', '3', '4'].map((text) =>
            open('race').write!({ files: new Map([['gateway.json', Buffer.from(text)]]), expected: version }, soon()),
          ),
        );
        equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      });
    });

    it('is read again after a restart of the server', async () => {
      await etcd.put('restart/gateway.json', '1');
      const source = open('restart');
      const { version } = (await source.read(soon()))!;
      const lost = rejects(source.awaitChange!(version, soon()), /127\.0\.0\.1/);
      await etcd.stop();
      await lost;
      await rejects(source.read(soon()), /ECONNREFUSED/);
      await etcd.start();
      deepEqual(await textsIn(source), { 'gateway.json': '1' });
    });

    it('is rejected if it is larger than the maximum', async () => {
      await etcd.put('large/gateway.json', 'x'.repeat(200_000));
      await rejects(open('large').read(soon()), /the response is larger than/);
    });

    it('requires a key in the address', () => {
      throws(() => open(''), /needs a key/);
    });

    describe('of a server with users', () => {
      before(async () => {
        await etcd.put('users/gateway.json', '1');
        await etcd.call('auth/user/add', { name: 'root', password: 'secret' });
        await etcd.call('auth/role/add', { name: 'root' });
        await etcd.call('auth/user/grant', { user: 'root', role: 'root' });
        await etcd.call('auth/enable', {});
      });

      it('is read with a user name and a password', async () => {
        deepEqual(await textsIn(open('users', { username: 'root', password: 'secret' })), { 'gateway.json': '1' });
      });

      it('is watched with a user name and a password', async () => {
        const source = open('users', { username: 'root', password: 'secret' });
        const { version } = (await source.read(soon()))!;
        const files = new Map([['gateway.json', Buffer.from('2')]]);
        await source.write!({ files, expected: version }, soon());
        await source.awaitChange!(version, soon());
      });

      it('cannot be read with a wrong password, which no message contains', async () => {
        await rejects(open('users', { username: 'root', password: 'wrong-one' }).read(soon()), (error: Error) => {
          match(error.message, /status 400: .*authentication failed/);
          ok(!error.message.includes('wrong-one'));
          return true;
        });
      });

      it('cannot be read without credentials', async () => {
        await rejects(open('users').read(soon()), /user name is empty/);
      });
    });
  },
);
