import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { startKafka, type TestKafka } from '../../../support/kafka.ts';
import { describeKafka } from './kafka-stage.ts';

describeKafka((stage) => {
  const { lines, start, writer, write } = stage;

  describe('and TLS and SASL users', () => {
    const certificates = makeCertificates();
    let guarded: TestKafka;
    let authority: KeyPair;
    let client: KeyPair;

    before(async () => {
      authority = certificates.authority('authority');
      const server = certificates.issue('server', authority);
      client = certificates.issue('client', authority);
      const users = ['PLAIN:ada:s3cret', 'SCRAM-SHA-256:bob:s3cret', 'SCRAM-SHA-512:eve:s3cret'].join(',');
      const tls = [
        '-certificate',
        server.certificate,
        '-key',
        server.privateKey,
        '-client-authority',
        authority.certificate,
      ];
      guarded = await startKafka(['-topics', 'orders:1', '-users', users, ...tls]);
    });
    after(async () => {
      await guarded.close();
      certificates.remove();
    });

    const tls = () => ({
      ca_certs: [authority.certificate],
      client_certs: [{ certificate: client.certificate, private_key: client.privateKey }],
    });
    const startAs = (sasl: object | undefined, client_tls: object | undefined = tls(), brokers = [guarded.address]) =>
      start(
        writer('orders', {
          cluster: {
            brokers,
            dial_timeout: '2s',
            metadata_retry_max: 0,
            ...(client_tls && { client_tls }),
            ...(sasl && { sasl }),
          },
          producer: { retry_max: 0 },
        }),
      );

    for (const [mechanism, user] of [
      ['PLAIN', 'ada'],
      ['SCRAM-SHA-256', 'bob'],
      ['SCRAM-SHA-512', 'eve'],
    ] as const) {
      it(`writes over TLS with a client certificate, as a user with ${mechanism}`, async () => {
        await startAs({ mechanism, user, password: 's3cret' });
        const reply = await write();
        deepEqual([reply.statusCode, reply.body], [200, '{}']);
      });

      it(`logs that the password is wrong, but not the password, with ${mechanism}`, async () => {
        await startAs({ mechanism, user, password: 'wr0ng' });
        const reply = await write();
        equal(reply.statusCode, 500);
        match(reply.body, /rejects the user name or the password/);
        await until(() => lines('rejects the user name or the password').some((line) => line.includes('ERROR')));
        deepEqual(lines('wr0ng'), []);
      });
    }

    it('reports an unsupported mechanism', async () => {
      await startAs({ mechanism: 'OAUTHBEARER', password: 'token' });
      match((await write()).body, /does not support this SASL mechanism/);
    });

    it('connects to a broker by host name', async () => {
      await startAs({ user: 'ada', password: 's3cret' }, tls(), [`localhost:${guarded.port}`]);
      equal((await write()).statusCode, 200);
    });

    it('suggests a likely cause if the broker closes the connection', async () => {
      await startAs(undefined, tls());
      match((await write()).body, /may require TLS or SASL/);
    });

    it('rejects a broker whose certificate is not trusted', async () => {
      await startAs({ user: 'ada', password: 's3cret' }, {});
      const reply = await write();
      equal(reply.statusCode, 500);
      match(reply.body, /certificate/);
      notEqual(reply.body, '');
    });
  });
});
