import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { startKafka, type TestKafka } from '../../../support/kafka.ts';
import { describeKafka } from './kafka-stage.ts';

describeKafka((stage) => {
  const { lines, start, writer, write } = stage;

  describe('with TLS and users', () => {
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
      it(`writes over TLS with a certificate of its own, as a user with ${mechanism}`, async () => {
        await startAs({ mechanism, user, password: 's3cret' });
        const reply = await write();
        deepEqual([reply.statusCode, reply.body], [200, '{}']);
      });

      it(`says that the password is wrong, and not what it is, with ${mechanism}`, async () => {
        await startAs({ mechanism, user, password: 'wr0ng' });
        const reply = await write();
        equal(reply.statusCode, 500);
        match(reply.body, /refuses the user name or the password/);
        await until(() => lines('refuses the user name or the password').some((line) => line.includes('ERROR')));
        deepEqual(lines('wr0ng'), []);
      });
    }

    it('says that a mechanism is not known', async () => {
      await startAs({ mechanism: 'OAUTHBEARER', password: 'token' });
      match((await write()).body, /does not know this SASL mechanism/);
    });

    it('writes to a broker by its name', async () => {
      await startAs({ user: 'ada', password: 's3cret' }, tls(), [`localhost:${guarded.port}`]);
      equal((await write()).statusCode, 200);
    });

    it('says what may be missing where the broker closes the connection', async () => {
      await startAs(undefined, tls());
      match((await write()).body, /may require TLS or SASL/);
    });

    it('does not speak to a broker that it does not trust', async () => {
      await startAs({ user: 'ada', password: 's3cret' }, {});
      const reply = await write();
      equal(reply.statusCode, 500);
      match(reply.body, /certificate/);
      notEqual(reply.body, '');
    });
  });
});
