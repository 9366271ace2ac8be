import { deepEqual, match, ok, rejects, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { plugin } from '../../../plugins/source/nats.ts';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { startNats, type TestNats, withoutNats } from '../../support/nats.ts';
import { itKeepsTheContract } from '../../support/source-contract.ts';
import { filesOf, soon, testSources, textsIn } from '../../support/source-suite.ts';

(withoutNats === null ? describe : describe.skip)(
  `a configuration in NATS JetStream${withoutNats ? ` (${withoutNats})` : ''}`,
  () => {
    let nats: TestNats;
    let client: NatsConnection;
    let directory: string;
    const sources = testSources(plugin);
    const open = (key: string) => sources.open(`${nats.address}/configs/${key}`);

    /** Creates a bucket. */
    async function create(by: NatsConnection, bucket: string): Promise<void> {
      const stream = { name: `KV_${bucket}`, subjects: [`$KV.${bucket}.>`], max_msgs_per_subject: 1 };
      await by.request(`$JS.API.STREAM.CREATE.${stream.name}`, JSON.stringify(stream));
    }
    const put = async (key: string, text: string) => void (await client.request(`$KV.configs.${key}`, text));
    async function remove(key: string): Promise<void> {
      const marker = headers();
      marker.set('KV-Operation', 'DEL');
      await client.request(`$KV.configs.${key}`, '', { headers: marker, timeout: 5000 });
    }

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'sluice-nats-'));
      nats = await startNats(['-js', '-sd', directory]);
      client = await nats.connect();
      await create(client, 'configs');
    });
    after(async () => {
      await nats?.close();
      rmSync(directory, { recursive: true });
    });
    afterEach(() => sources.close());

    itKeepsTheContract(
      () => ({
        sources,
        address: (key) => `${nats.address}/configs/${key}`,
        put,
        putFile: (key, name, text) => put(`${key}/${name}`, text),
        removeFile: (key, name) => remove(`${key}/${name}`),
        stop: nats.stop,
        async start() {
          await nats.start();
          const connected = () =>
            client.flush().then(
              () => true,
              () => false,
            );
          await until(connected);
        },
      }),
      { writesSeveral: false },
    );

    it('cannot be written as several files, which NATS does not replace in one step', async () => {
      const files = filesOf({ 'gateway.json': '1', 'part.json': '2' });
      await rejects(open('two').write!({ files, expected: null }, soon()), /cannot replace several files/);
      await put('parts/gateway.json', '1');
      await put('parts/part.json', '1');
      const { version: expected } = (await open('parts').read(soon()))!;
      const one = filesOf({ 'gateway.json': '2' });
      await rejects(open('parts').write!({ files: one, expected }, soon()), /cannot replace several files/);
    });

    it('is all keys of a bucket', async () => {
      await create(client, 'whole');
      await client.request('$KV.whole.gateway.yaml', '1');
      deepEqual(await textsIn(sources.open(`${nats.address}/whole`)), { 'gateway.yaml': '1' });
    });

    it('is not available without its bucket', async () => {
      await rejects(sources.open(`${nats.address}/missing/key`).read(soon()), /the bucket missing does not exist/);
    });

    it('requires a bucket and a valid key in the address', () => {
      throws(() => sources.open(`${nats.address}/`), /needs a bucket/);
      throws(() => sources.open(`${nats.address}/b%3E/key`), /needs a bucket/);
      throws(() => open('a..b'), /not a valid key/);
      throws(() => open('a%3E'), /not a valid key/);
    });

    it('is not available from a server without JetStream', async () => {
      const plain = await startNats();
      try {
        await rejects(sources.open(`${plain.address}/b/key`).read(soon()), /JetStream/);
      } finally {
        await plain.close();
      }
    });

    it('cannot be read with a wrong password, which no message contains', async () => {
      const guarded = await startNats(['-js', '-sd', join(directory, 'guarded'), '--user', 'u', '--pass', 'right-one']);
      try {
        await create(await guarded.connect({ user: 'u', pass: 'right-one' }), 'configs');
        const address = `${guarded.address}/configs/gateway.json`;
        await sources.open(address, { username: 'u', password: 'right-one' }).read(soon());
        const source = sources.open(address, { username: 'u', password: 'wrong-one' });
        await rejects(source.read(soon()), (error: Error) => {
          match(error.message, /auth/i);
          ok(!error.message.includes('wrong-one'));
          return true;
        });
      } finally {
        await guarded.close();
      }
    });

    it('is read over TLS with a client certificate only', async () => {
      const certificates: Certificates = makeCertificates();
      const authority = certificates.authority('authority');
      const server = certificates.issue('server', authority);
      const { certificatePem: cert, privateKeyPem: key } = certificates.issue('client', authority);
      const ca = authority.certificatePem;
      const options = ['--tlsverify', '--tlscert', server.certificate, '--tlskey', server.privateKey];
      const storage = ['-js', '-sd', join(directory, 'secure')];
      const secure = await startNats([...storage, ...options, '--tlscacert', authority.certificate]);
      try {
        await create(await secure.connect({ tls: { ca, cert, key } }), 'configs');
        const address = `tls://127.0.0.1:${secure.port}/configs/gateway.json`;
        deepEqual(await textsIn(sources.open(address, { tls: { ca, cert, key } })), null);
        await rejects(sources.open(address, { tls: { ca } }).read(soon()));
        await rejects(sources.open(address, { tls: { cert, key } }).read(soon()), /certificate/);
      } finally {
        await secure.close();
        certificates.remove();
      }
    });
  },
);
