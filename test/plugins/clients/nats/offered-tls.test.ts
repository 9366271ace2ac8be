import { equal, rejects } from 'node:assert/strict';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { openNats } from '../../../../plugins/clients/nats/connection.ts';
import { standardTls } from '../../../../plugins/clients/tls/client-tls.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { startNats, type TestNats, withoutNats } from '../../../support/nats.ts';

const title = `TLS that a NATS server offers${withoutNats ? `: ${withoutNats}` : ''}`;
(withoutNats ? describe.skip : describe)(title, function () {
  this.timeout(20_000);
  const trusted = getCACertificates('default');
  let certificates: Certificates;
  let authority: KeyPair;
  let server: TestNats | undefined;

  before(() => {
    certificates = makeCertificates();
    authority = certificates.authority('authority');
    setDefaultCACertificates([...trusted, authority.certificatePem]);
  });
  after(() => {
    setDefaultCACertificates(trusted);
    certificates.remove();
  });
  afterEach(() => server?.close());

  const serve = async (hosts: string) => {
    const { certificate, privateKey } = certificates.issue('server', authority, hosts);
    server = await startNats(['--tls', `--tlscert=${certificate}`, `--tlskey=${privateKey}`]);
  };
  const open = (host: string) => {
    const who = { user: undefined, password: undefined, token: undefined, needsTls: false, tls: standardTls() };
    const settings = { servers: [`${host}:${server!.port}`], ...who, denied: new DeniedAddresses() };
    return openNats(settings, () => {}, new AbortController().signal);
  };

  it('verifies the certificate for the configured address', async () => {
    await serve('IP:127.0.0.1');
    const link = await open('127.0.0.1');
    equal(link.client.info?.tls_required, true);
    await link.close();
  });

  it('verifies the certificate for the configured host name', async () => {
    await serve('DNS:localhost');
    await (await open('localhost')).close();
  });

  it('rejects a certificate for another name than the configured address', async () => {
    await serve('DNS:localhost');
    await rejects(open('127.0.0.1'), /IP: 127\.0\.0\.1 is not in the cert's list/);
  });
});
