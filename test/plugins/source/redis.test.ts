import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { demandUsable } from '../../../kernel/sources/revision-limits.ts';
import { plugin } from '../../../plugins/source/redis/index.ts';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';
import { itKeepsTheContract } from '../../support/source-contract.ts';
import { filesOf, soon, testSources, textsIn } from '../../support/source-suite.ts';

(withoutRedis === null ? describe : describe.skip)(
  `a configuration in Redis${withoutRedis ? ` (${withoutRedis})` : ''}`,
  () => {
    let redis: TestRedis;
    const sources = testSources(plugin);
    const addressOf = (key: string, { address } = redis) => `redis://${address}/0/${key}`;
    const open = (key: string) => sources.open(addressOf(key));
    const clients = async () =>
      String(await redis.command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;

    before(async () => {
      redis = await startRedis(['--notify-keyspace-events', 'KA']);
    });
    after(() => redis?.close());
    afterEach(() => sources.close());

    itKeepsTheContract(() => ({
      sources,
      address: (key) => addressOf(key),
      put: async (key, text) => void (await redis.command('SET', key, text)),
      putFile: async (key, name, text) => void (await redis.command('HSET', key, name, text)),
      removeFile: async (key, name) => void (await redis.command('HDEL', key, name)),
      stop: redis.stop,
      async start() {
        await redis.start();
        // Nothing is kept on disk.
        await redis.command('HSET', 'restart', 'gateway.json', '2');
      },
    }));

    it('is a string whose name has colons', async () => {
      await redis.command('SET', 'shop:eu:krakend.json', '1');
      deepEqual(await textsIn(open('shop:eu:krakend.json')), { 'krakend.json': '1' });
      await redis.command('SET', 'shop:eu', '2');
      deepEqual(await textsIn(open('shop:eu')), { 'gateway.json': '2' });
    });

    it('has files of any bytes', async () => {
      const content = Buffer.from([0xff, 0, 0x80, 13, 10]);
      const files = new Map([
        ['gateway.json', Buffer.from('1')],
        ['binary', content],
      ]);
      await open('binary').write!({ files, expected: null }, soon());
      deepEqual((await open('binary').read(soon()))!.files.get('binary'), content);
    });

    it('stays a string if one file is written', async () => {
      const version = await open('string').write!({ files: filesOf({ 'gateway.json': '1' }), expected: null }, soon());
      equal(await redis.command('TYPE', 'string'), 'string');
      await open('string').write!({ files: filesOf({ 'gateway.json': '1', a: '' }), expected: version }, soon());
      equal(await redis.command('TYPE', 'string'), 'hash');
    });

    it('is not usable if names leave the directory', async () => {
      await redis.command('HSET', 'hostile', 'gateway.json', '1', '__proto__', '2');
      const revision = (await open('hostile').read(soon()))!;
      deepEqual([...revision.files.keys()], ['gateway.json', '__proto__']);
      await redis.command('HSET', 'hostile', '../x', '3');
      const outside = (await open('hostile').read(soon()))!;
      throws(() => demandUsable(outside, 1000), /"\.\.\/x" is not a valid path/);
    });

    it('is neither a list nor a hash with too many fields or bytes', async () => {
      await redis.command('RPUSH', 'list', '1');
      await rejects(open('list').read(soon()), /the key is a list, not a string or a hash/);
      await redis.command('HSET', 'bytes', 'gateway.json', 'x'.repeat(60_000), 'b', 'x'.repeat(60_000));
      await rejects(open('bytes').read(soon()), /larger than 100000 bytes/);
      const fields = Array.from({ length: 1001 }, (_, index) => [`f${index}`, '']).flat();
      await redis.command('HSET', 'fields', ...fields);
      await rejects(open('fields').read(soon()), /more than 1000 fields/);
    });

    it('leaves no connection behind', async () => {
      await until(async () => (await clients()) === 1);
      await redis.command('SET', 'left', '1');
      const source = open('left');
      const { version } = (await source.read(soon()))!;
      const canceling = new AbortController();
      const waiting = rejects(source.awaitChange!(version, canceling.signal));
      await until(async () => (await clients()) === 3);
      canceling.abort();
      await waiting;
      await until(async () => (await clients()) === 1);
    });

    it('requires a database and a key in the address', () => {
      throws(() => sources.open(`redis://${redis.address}/key`), /needs a database and a key/);
      throws(() => sources.open(`redis://${redis.address}/0`), /needs a database and a key/);
      throws(() => open('key?db=1'), /unknown parameter "db"/);
    });

    it('of another database is not the same', async () => {
      await redis.command('SET', 'databases', '1');
      equal(await sources.open(`redis://${redis.address}/1/databases`).read(soon()), null);
    });

    describe('of a server with users and without notifications', () => {
      let guarded: TestRedis;

      before(async () => {
        guarded = await startRedis();
        await guarded.command('ACL', 'SETUSER', 'gateway', 'on', '>right-one', '~*', '+@all', 'resetchannels');
        await guarded.command('SET', 'users', '1');
      });
      after(() => guarded?.close());

      const access = { username: 'gateway', password: 'right-one' };

      it('is found to have changed at an interval', async function () {
        this.timeout(20_000);
        const source = sources.open(addressOf('users', guarded), access);
        const { version } = (await source.read(soon()))!;
        const changed = source.awaitChange!(version, soon());
        await until(async () => {
          const lines = String(await guarded.command('CLIENT', 'LIST')).split('\n');
          const own = lines.filter((line) => line.includes('user=gateway'));
          return own.length === 2 && own.some((line) => line.includes('cmd=eval'));
        });
        await guarded.command('SET', 'users', '2');
        await changed;
      });

      it('cannot be read with a wrong password, which no message contains', async () => {
        const source = sources.open(addressOf('users', guarded), { ...access, password: 'wrong-one' });
        await rejects(source.read(soon()), (error: Error) => {
          match(error.message, /WRONGPASS/);
          ok(!error.message.includes('wrong-one'));
          return true;
        });
      });
    });

    describe('of a server with TLS', () => {
      let certificates: Certificates;
      let secure: TestRedis;
      let tls: { readonly ca: string; readonly cert: string; readonly key: string };

      before(async () => {
        certificates = makeCertificates();
        const authority = certificates.authority('authority');
        const server = certificates.issue('server', authority);
        const client = certificates.issue('client', authority);
        tls = { ca: authority.certificatePem, cert: client.certificatePem, key: client.privateKeyPem };
        const options = ['--tls-cert-file', server.certificate, '--tls-key-file', server.privateKey];
        secure = await startRedis([...options, '--tls-ca-cert-file', authority.certificate], tls);
        await secure.command('SET', 'tls', '1');
      });
      after(async () => {
        await secure?.close();
        certificates.remove();
      });

      it('is read with a client certificate only', async () => {
        const address = `rediss://${secure.address}/0/tls`;
        const { ca, cert, key } = tls;
        deepEqual(await textsIn(sources.open(address, { tls })), { 'gateway.json': '1' });
        await rejects(sources.open(address, { tls: { ca } }).read(soon()));
        await rejects(sources.open(address, { tls: { cert, key } }).read(soon()), /certificate/);
      });
    });

    describe('of a server that fails', () => {
      const failing: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp]>> = {
        'by another protocol': [(socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /./],
        'by closing the connection': [(socket) => socket.destroy(), /./],
      };
      for (const [how, [respond, reason]] of Object.entries(failing)) {
        it(`${how}, is an error`, async () => {
          const server = createServer((socket) => {
            socket.on('error', () => {}).resume();
            respond(socket);
          }).listen(0, '127.0.0.1');
          await once(server, 'listening');
          const { port } = server.address() as AddressInfo;
          const source = sources.open(`redis://127.0.0.1:${port}/0/key`);
          await rejects(source.read(soon()), reason);
          await rejects(source.awaitChange!('1', soon()), reason);
          server.close();
        });
      }
    });
  },
);
