import { deepEqual, equal, notEqual, rejects } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { ServiceConfig, Site } from '#contract';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { prepareTls } from '../../../plugins/clients/tls/client-tls.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { Bench, errorOf, send, textOf } from './http-client.ts';

describe('the TLS settings of backend/http/client', () => {
  const bench = new Bench();
  let made: Certificates;
  let authority: KeyPair;
  let other: KeyPair;
  let server: KeyPair;
  let visitor: KeyPair;

  before(() => {
    made = makeCertificates();
    authority = made.authority('authority');
    other = made.authority('other');
    server = made.issue('server', authority);
    visitor = made.issue('visitor', authority);
  });
  after(() => made.remove());
  afterEach(() => bench.close());

  async function secure(options: ServerOptions = {}, host = 'localhost'): Promise<string> {
    const { certificatePem: cert, privateKeyPem: key } = server;
    return bench.listen(
      createServer({ cert, key, ...options }, (request, response) => {
        const socket = request.socket as TLSSocket;
        const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
        response.end([socket.getProtocol(), subject?.CN ?? '', socket.getCipher().standardName].join(' '));
      }),
      'https',
      host,
    );
  }

  async function respond(origin: string, client_tls?: unknown, service?: Partial<ServiceConfig>): Promise<string> {
    const reply = await send(await bench.client(client_tls ? { client_tls } : {}, service ? { service } : {}), {
      origin,
    });
    return reply.failed ? errorOf(reply).code : textOf(reply);
  }

  async function refused(client_tls: unknown): Promise<[string, string, string]> {
    let results: [string, string, string] = ['', '', ''];
    await rejects(bench.client({ client_tls }), (errors: ConfigErrors) => {
      const [error] = errors.errors;
      results = [error!.code, error!.pointer, error!.message];
      return true;
    });
    return results;
  }

  it('reject a backend with an untrusted certificate', async () => {
    equal(await respond(await secure()), 'BACKEND_TLS');
  });

  it('accept an untrusted certificate with allow_insecure_connections', async () => {
    equal((await respond(await secure(), { allow_insecure_connections: true })).split(' ')[0], 'TLSv1.3');
  });

  it('are parsed once for backends with equal settings', () => {
    const site = { read: (path: string) => readFileSync(path), warn() {} } as unknown as Site<unknown>;
    const contextOf = (minVersion: string) => {
      const settings = {
        ...{ allow_insecure_connections: false, disable_system_ca_pool: false, client_certs: [] },
        ...{ ca_certs: [authority.certificate], min_version: minVersion, max_version: 'TLS13' },
        ...{ cipher_suites: [], curve_preferences: [] },
      };
      return prepareTls(site, settings as never).client.secureContext;
    };
    const context = contextOf('TLS12');
    equal(contextOf('TLS12'), context);
    notEqual(contextOf('TLS13'), context);
  });

  it('trust ca_certs, with or without the system trust store', async () => {
    const origin = await secure();
    const ca_certs = [authority.certificate];
    equal((await respond(origin, { ca_certs })).split(' ')[0], 'TLSv1.3');
    equal((await respond(origin, { ca_certs, disable_system_ca_pool: true })).split(' ')[0], 'TLSv1.3');
    equal(await respond(origin, { disable_system_ca_pool: true }), 'BACKEND_TLS');
  });

  it("default to the root's client_tls", async () => {
    const service = { client_tls: clientTls({ allow_insecure_connections: true }) } as Partial<ServiceConfig>;
    const origin = await secure();
    equal((await respond(origin, undefined, service)).split(' ')[0], 'TLSv1.3');
    equal(await respond(origin, {}, service), 'BACKEND_TLS');
  });

  it('reject a certificate for another host name', async () => {
    const { certificatePem: cert, privateKeyPem: key } = made.issue('stranger', authority, 'DNS:stranger.test');
    equal(await respond(await secure({ cert, key }), { ca_certs: [authority.certificate] }), 'BACKEND_TLS');
  });

  it('accept a certificate for the address of the backend', async () => {
    const origin = await secure({}, '127.0.0.1');
    equal((await respond(origin, { ca_certs: [authority.certificate] })).split(' ')[0], 'TLSv1.3');
  });

  it('require TLS 1.3 by default', async () => {
    const origin = await secure({ maxVersion: 'TLSv1.2' });
    const ca_certs = [authority.certificate];
    equal(await respond(origin, { ca_certs }), 'BACKEND_TLS');
    equal((await respond(origin, { ca_certs, min_version: 'TLS12' })).split(' ')[0], 'TLSv1.2');
  });

  it('allow TLS 1.1 if configured', async () => {
    const origin = await secure({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
    const cipher_suites = [49161, 49162];
    const match = await respond(origin, { ca_certs: [authority.certificate], min_version: 'TLS11', cipher_suites });
    equal(match.split(' ')[0], 'TLSv1.1');
  });

  it('offer only the configured cipher suites up to TLS 1.2', async () => {
    const origin = await secure({ maxVersion: 'TLSv1.2' });
    const match = await respond(origin, {
      ca_certs: [authority.certificate],
      min_version: 'TLS12',
      cipher_suites: [49196],
    });
    equal(match.split(' ')[2], 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
  });

  it('present the client certificate to a backend that requests one', async () => {
    const origin = await secure({ requestCert: true, rejectUnauthorized: true, ca: authority.certificatePem });
    const ca_certs = [authority.certificate];
    const client_certs = [{ certificate: visitor.certificate, private_key: visitor.privateKey }];
    equal((await respond(origin, { ca_certs, client_certs })).split(' ')[1], 'visitor');
    equal((await respond(origin, { ca_certs })).startsWith('BACKEND_'), true);
  });

  it('are rejected if a file cannot be read', async () => {
    const path = join(made.directory, 'nowhere.pem');
    deepEqual(await refused({ ca_certs: [path] }), [
      'CLIENT_TLS_FILE',
      '/client_tls/ca_certs/0',
      `cannot read ${path}: no such file`,
    ]);
    const [code, pointer] = await refused({ client_certs: [{ certificate: visitor.certificate, private_key: path }] });
    deepEqual([code, pointer], ['CLIENT_TLS_FILE', '/client_tls/client_certs/0/private_key']);
  });

  it('are rejected if a file contains no certificate or a key that does not match', async () => {
    const path = join(made.directory, 'empty.pem');
    writeFileSync(path, 'nothing here');
    deepEqual(await refused({ ca_certs: [path] }), [
      'CLIENT_TLS_INVALID',
      '/client_tls/ca_certs/0',
      `${path} contains no certificate: it is not PEM`,
    ]);
    const { certificate, privateKey } = visitor;
    const at = '/client_tls/client_certs/0';
    for (const [pair, pointer, message] of [
      [
        { certificate, private_key: other.privateKey },
        `${at}/private_key`,
        `${other.privateKey} is not the key of ${certificate}: the key does not match the certificate`,
      ],
      [
        { certificate: privateKey, private_key: privateKey },
        `${at}/certificate`,
        `${privateKey} contains no certificate: it contains a private key`,
      ],
      [
        { certificate, private_key: path },
        `${at}/private_key`,
        `${path} contains no usable private key: it is not PEM`,
      ],
    ] as const) {
      deepEqual(await refused({ client_certs: [pair] }), ['CLIENT_TLS_INVALID', pointer, message]);
    }
  });

  it('are rejected if the minimum TLS version exceeds the maximum, and for unknown cipher suites', async () => {
    equal((await refused({ min_version: 'TLS13', max_version: 'TLS12' }))[0], 'CLIENT_TLS_VERSION');
    deepEqual(await refused({ cipher_suites: [49199, 5] }), [
      'CLIENT_TLS_CIPHER',
      '/client_tls/cipher_suites/1',
      'cipher suite 5 is not supported by this runtime',
    ]);
  });

  it('load certificates again on a reload', async () => {
    const path = join(made.directory, 'changing.pem');
    writeFileSync(path, other.certificatePem);
    const origin = await secure();
    const config = { client_tls: { ca_certs: [path] } };
    const gate = await bench.client(config);
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_TLS');
    writeFileSync(path, authority.certificatePem);
    await gate.reload(config);
    equal((await send(gate, { origin })).status, 200);
  });
});

function clientTls(given: object): object {
  const versions = { min_version: 'TLS13', max_version: 'TLS13' };
  return { ...versions, ca_certs: [], client_certs: [], cipher_suites: [], curve_preferences: [23], ...given };
}
