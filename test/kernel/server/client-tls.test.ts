import { deepEqual, equal } from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Operations } from '#kernel';

import { startGateway } from '../../support/gateway.ts';
import { Secure } from './secure.ts';

describe('client_tls for connections to backends', () => {
  let secure: Secure;
  let backend: ReturnType<typeof createServer>;
  let gateway: Operations | undefined;
  let host: string[];
  before(async () => {
    secure = new Secure();
    const { certificatePem: cert, privateKeyPem: key } = secure.server;
    backend = createServer({ cert, key }, (_message, response) => response.end('{"a":1}'));
    await new Promise<void>((resolve) => backend.listen(0, 'localhost', resolve));
    host = [`https://localhost:${(backend.address() as AddressInfo).port}`];
  });
  afterEach(() => gateway?.close());
  after(async () => {
    backend.closeAllConnections();
    await new Promise((resolve) => backend.close(resolve));
    secure.made.remove();
  });

  const start = (config: object, own?: object) => {
    const extra_config = own ? { 'backend/http/client': own } : {};
    const endpoints = ['/a', '/b'].map((endpoint) => ({
      endpoint,
      backend: [{ host, url_pattern: '/', ...(endpoint === '/b' && { extra_config }) }],
    }));
    return startGateway({ endpoints, ...config });
  };
  const statuses = async (config: object, own?: object): Promise<number[]> => {
    gateway = await start(config, own);
    return [(await gateway.inject('/a')).statusCode, (await gateway.inject('/b')).statusCode];
  };

  it('rejects an untrusted certificate by default', async () => deepEqual(await statuses({}), [500, 500]));

  it('adds trusted CAs for every backend', async () =>
    deepEqual(await statuses({ client_tls: { ca_certs: [secure.authority.certificate] } }), [200, 200]));

  it('does not apply to a backend with its own client_tls', async () =>
    deepEqual(await statuses({ client_tls: { allow_insecure_connections: true } }, { client_tls: {} }), [200, 500]));

  it('applies to a backend with other settings of the HTTP client', async () =>
    deepEqual(await statuses({ client_tls: { allow_insecure_connections: true } }, { no_redirect: true }), [200, 200]));

  it('includes the old allow_insecure_connections, with a warning', async () => {
    deepEqual(await statuses({ allow_insecure_connections: true }), [200, 200]);
    deepEqual(
      gateway!.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['CONFIG_OLD_FIELD', '/allow_insecure_connections']],
    );
  });

  it('keeps its fields if allow_insecure_connections is set too', async () =>
    deepEqual(await statuses({ allow_insecure_connections: true, client_tls: { max_version: 'TLS13' } }), [200, 200]));

  it('can be null', async () => equal((await statuses({ client_tls: null }))[0], 500));

  it('is rejected once, at its own pointer, regardless of the number of backends', async () => {
    deepEqual(await secure.refused(configOf({ ca_certs: ['/nowhere.pem'] })), [
      ['CLIENT_TLS_FILE', '/client_tls/ca_certs/0', 'cannot read /nowhere.pem: no such file'],
    ]);
    deepEqual(await secure.refused(configOf({ cipher_suites: [5] })), [
      ['CLIENT_TLS_CIPHER', '/client_tls/cipher_suites/0', 'cipher suite 5 is not supported by this runtime'],
    ]);
  });

  function configOf(client_tls: object): object {
    const endpoints = ['/a', '/b', '/c'].map((endpoint) => ({
      endpoint,
      backend: [{ host, url_pattern: '/', extra_config: { 'backend/http/client': { no_redirect: true } } }],
    }));
    return { endpoints, client_tls };
  }

  it('works together with max_idle_connections', async () =>
    deepEqual(
      await statuses({ max_idle_connections: 1, client_tls: { allow_insecure_connections: true } }),
      [200, 200],
    ));
});
