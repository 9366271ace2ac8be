import { deepEqual, equal, match } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { INSTALLATION_MS } from '../../../support/debian.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { startNats, type TestNats, withoutNats } from '../../../support/nats.ts';
import { publish, take } from './nats-endpoints.ts';

(withoutNats ? describe.skip : describe)(`NATS behind a backend${withoutNats ? `: ${withoutNats}` : ''}`, function () {
  this.timeout(INSTALLATION_MS);
  let gateway: Operations | undefined;
  let restore = () => {};
  let sinks: ReturnType<typeof rememberingSinks>;

  beforeEach(() => {
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    restore();
  });

  const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));

  describe('with users, permissions and TLS', () => {
    const certificates = makeCertificates();
    let guarded: TestNats;
    let ca: string;

    before(async () => {
      const authority = certificates.authority('authority');
      const pair = certificates.issue('server', authority);
      ca = authority.certificate;
      const config = join(certificates.directory, 'nats.conf');
      writeFileSync(
        config,
        `tls { cert_file: "${pair.certificate}", key_file: "${pair.privateKey}" }
         authorization { users: [
           { user: ada, password: "s3cret", permissions: { publish: ["allowed", "_INBOX.>"], subscribe: ["allowed"] } }
         ] }`,
      );
      guarded = await startNats(['-c', config]);
    });
    after(async () => {
      await guarded.close();
      certificates.remove();
    });

    const startAs = async (user: string, host = 'localhost', tls: object | null = { ca_certs: [ca] }) => {
      restore();
      restore = setEnvironment({ NATS_SERVER_URL: `tls://${user}@${host}:${guarded.port}` });
      gateway = await startGateway(
        {
          ...(tls && { client_tls: tls }),
          endpoints: [publish('allowed'), publish('forbidden'), take('forbidden2')],
          extra_config: { router: { return_error_msg: true }, 'telemetry/logging': { level: 'DEBUG', stdout: true } },
        },
        { sinks },
      );
      return (topic: string) => gateway!.inject({ method: 'POST', url: `/pub/${topic}`, payload: 'x' });
    };

    for (const host of ['localhost', '127.0.0.1']) {
      it(`publishes over TLS to ${host} with a user and a password`, async () => {
        equal((await (await startAs('ada:s3cret', host))('allowed')).statusCode, 200);
      });
    }

    it('fails for a subject to which the user must not publish', async () => {
      const send = await startAs('ada:s3cret');
      const reply = await send('forbidden');
      deepEqual([reply.statusCode, /no permission to publish to "forbidden"/.test(reply.body)], [500, true]);
      equal((await send('allowed')).statusCode, 200);
      await until(() => lines('rejects the subscription').length > 0);
    });

    it('logs that the password is wrong, but not the password', async () => {
      const reply = await (await startAs('ada:wr0ng'))('allowed');
      equal(reply.statusCode, 500);
      match(reply.body, /[Aa]uthorization/);
      await until(() => lines('uthorization').length > 0);
      deepEqual(lines('wr0ng'), []);
    });

    it('rejects a server whose certificate is not trusted', async () => {
      const reply = await (await startAs('ada:s3cret', 'localhost', null))('allowed');
      equal(reply.statusCode, 500);
      match(reply.body, /certificate/);
    });
  });
});
