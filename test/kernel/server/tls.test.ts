import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { rememberingSinks, startGateway } from '../../support/gateway.ts';
import { openRaw, sendRaw } from './raw.ts';
import { ask, once, Secure } from './secure.ts';

/** The status of a plain request, or the code of the failure. */
function plain(port: number): Promise<number | string> {
  return new Promise((resolve) => {
    getPlain({ host: 'localhost', port, path: '/__health', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    }).once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });
}

describe('TLS on the public port', () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  it('serves HTTPS with the first certificate of keys', async () => {
    const { port } = await secure.listen(secure.tls());
    equal(await secure.get(port, '/__health'), 200);
    equal(await secure.get(port, '/a'), 200);
  });

  it('offers HTTP/2 to clients that support it', async () => {
    const { port } = await secure.listen(secure.tls());
    const session = secure.session(port);
    equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
    equal(session.alpnProtocol, 'h2');
  });

  it('serves HTTP/1.1 to clients without a common protocol', async () => {
    const { port } = await secure.listen(secure.tls());
    const socket = await secure.handshake(port);
    socket.write('GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 OK\r\n/);
  });

  it('serves no plain HTTP on the same port', async () => {
    const { port } = await secure.listen(secure.tls());
    for (const pieces of [
      ['GET /a HTTP/1.1\r\nHost: a\r\n\r\n'],
      [...'POST /a HTTP/1.1\r\n'],
      ['PRI * HTTP/2.0\r\n'],
    ]) {
      const client = await openRaw(port);
      client.socket.setNoDelay(true);
      for (const piece of pieces) client.write(piece);
      match(await client.ended(), /^HTTP\/1\.1 400 .*\r\nConnection: close\r\n.*\r\n\r\nThis port speaks HTTPS\.\n$/s);
    }
  });

  for (const [name, bytes] of [
    ['a client with unknown bytes', '\x00\x01\x02\x03\r\n\r\n'],
    ['a client with text that is not a request', 'hello there\r\n\r\n'],
    ['a client with an uppercase word', `${'A'.repeat(100)} / HTTP/1.1\r\n\r\n`],
    ['a client with an invalid handshake', '\x16\x03\x01\x00\x05hello'],
  ] as const) {
    it(`sends nothing in clear text to ${name}`, async () => {
      const { port } = await secure.listen(secure.tls());
      ok(!(await sendRaw(port, bytes)).includes('HTTP'));
    });
  }

  it('accepts a handshake byte by byte', async () => {
    const { port } = await secure.listen(secure.tls());
    const relay = createServer((near) => {
      const far = secure.dial(port);
      far.setNoDelay(true);
      far.pipe(near);
      near.on('data', (bytes: Buffer) => {
        for (const byte of bytes) far.write(Buffer.of(byte));
      });
      near.on('error', () => {});
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const { port: through } = relay.address() as AddressInfo;
    equal(await secure.get(through, '/a', { host: '127.0.0.1', servername: 'localhost' }), 200);
    relay.close();
  });

  it('reads no files and serves plain HTTP if it is disabled', async () => {
    const { port } = await secure.listen({ tls: { disabled: true, keys: [{ public_key: '/nowhere' }] } });
    equal(await plain(port), 200);
  });

  it('can be null', async () => {
    const { port } = await secure.listen({ tls: null });
    equal(await plain(port), 200);
  });

  it('allows only TLS 1.3 by default', async () => {
    const { port } = await secure.listen(secure.tls());
    equal(typeof (await secure.get(port, '/a', { maxVersion: 'TLSv1.2' })), 'string');
  });

  it('allows TLS 1.2 and 1.3 with a min_version of TLS12', async () => {
    const { port } = await secure.listen(secure.tls({ min_version: 'TLS12' }));
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await secure.handshake(port, { minVersion: version, maxVersion: version });
      equal(socket.getProtocol(), version);
    }
  });

  it('allows TLS 1.1 with cipher suites for it', async () => {
    const { port } = await secure.listen(secure.tls({ min_version: 'TLS11', cipher_suites: [49161, 49162] }));
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    equal((await secure.handshake(port, old)).getProtocol(), 'TLSv1.1');
  });

  it('allows nothing newer than max_version', async () => {
    const { port } = await secure.listen(secure.tls({ min_version: 'TLS12', max_version: 'TLS12' }));
    equal((await secure.handshake(port)).getProtocol(), 'TLSv1.2');
  });

  it('allows up to TLS 1.2 only the listed cipher suites', async () => {
    const { port } = await secure.listen(secure.tls({ min_version: 'TLS12', cipher_suites: [49196] }));
    const socket = await secure.handshake(port, { maxVersion: 'TLSv1.2' });
    equal(socket.getCipher().standardName, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
    await rejects(secure.handshake(port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }));
  });

  it('allows only NIST curves by default', async () => {
    const { port } = await secure.listen(secure.tls());
    await secure.handshake(port, { ecdhCurve: 'P-521' });
    await rejects(secure.handshake(port, { ecdhCurve: 'X25519' }));
  });

  it('allows only the listed curves', async () => {
    const { port } = await secure.listen(secure.tls({ curve_preferences: [24] }));
    await secure.handshake(port, { ecdhCurve: 'P-384' });
    await rejects(secure.handshake(port, { ecdhCurve: 'P-256' }));
  });

  it('accepts prefer_server_cipher_suites', async () => {
    const { port } = await secure.listen(secure.tls({ prefer_server_cipher_suites: true }));
    equal(await secure.get(port), 200);
  });

  it('accepts SSL3.0 without effect, with a warning', async () => {
    const { gateway, port } = await secure.listen(secure.tls({ min_version: 'SSL3.0', max_version: 'SSL3.0' }));
    deepEqual(
      gateway.status.warnings.filter(({ code }) => code === 'OPTION_UNUSED').map(({ pointer }) => pointer),
      ['/tls/min_version', '/tls/max_version'],
    );
    await rejects(secure.handshake(port, { maxVersion: 'TLSv1.2' }));
    equal(await secure.get(port), 200);
  });

  it('accepts the old single pair as the last of keys, with a warning', async () => {
    const { certificate: public_key, privateKey: private_key } = secure.server;
    const { gateway, port } = await secure.listen({ tls: { public_key, private_key } });
    equal(await secure.get(port), 200);
    equal(
      gateway.status.warnings.some(({ code, pointer }) => code === 'CONFIG_OLD_FIELD' && pointer === '/tls/public_key'),
      true,
    );
  });

  describe('with several certificates', () => {
    let port: number;
    beforeEach(async () => {
      const wide = secure.made.issue('wide', secure.authority, 'DNS:*.x.io');
      const exact = secure.made.issue('exact', secure.authority, 'DNS:b.x.io');
      ({ port } = await secure.listen(secure.tls({}, secure.server, wide, exact)));
    });

    it('presents the one for the requested name', async () => {
      equal(await secure.shown(port, 'localhost'), 'server');
      equal(await secure.shown(port, 'a.x.io'), 'wide');
    });

    it('prefers an exact name to a wildcard', async () => equal(await secure.shown(port, 'b.x.io'), 'exact'));

    it('presents the first one for any other name', async () => equal(await secure.shown(port, 'c.y.io'), 'server'));

    it('presents the first one to a client without a server name', async () =>
      equal(await secure.shown(port, undefined), 'server'));
  });

  describe('with invalid settings', () => {
    const file = (name: string, text: string) => {
      const path = join(secure.made.directory, name);
      writeFileSync(path, text);
      return path;
    };

    it('is rejected without a certificate', async () => {
      deepEqual(await secure.refused({ tls: {} }), [['TLS_KEYS', '/tls/keys', 'public key not defined']]);
      deepEqual(await secure.refused({ tls: { keys: [] } }), [['TLS_KEYS', '/tls/keys', 'public key not defined']]);
    });

    it('is rejected with a certificate without a key, or a key without a certificate', async () => {
      deepEqual(await secure.refused({ tls: { keys: [{ public_key: 'a' }] } }), [
        ['TLS_KEYS', '/tls/keys/0/private_key', 'private key not defined'],
      ]);
      deepEqual(await secure.refused({ tls: { keys: [{ private_key: 'a' }] } }), [
        ['TLS_KEYS', '/tls/keys/0/public_key', 'public key not defined'],
      ]);
      deepEqual(await secure.refused({ tls: { public_key: 'a' } }), [
        ['TLS_KEYS', '/tls/private_key', 'private key not defined'],
      ]);
    });

    it('is rejected for every file that cannot be read, by its path', async () => {
      const { certificate, privateKey } = secure.server;
      const keys = [
        { public_key: '/nowhere/a.pem', private_key: privateKey },
        { public_key: certificate, private_key: '/nowhere/b.key' },
        { public_key: '/nowhere/d.pem', private_key: '/nowhere/d.key' },
      ];
      deepEqual(await secure.refused({ tls: { keys, enable_mtls: true, ca_certs: ['/nowhere/c.pem'] } }), [
        ['TLS_FILE', '/tls/keys/0/public_key', 'cannot read /nowhere/a.pem: no such file'],
        ['TLS_FILE', '/tls/keys/1/private_key', 'cannot read /nowhere/b.key: no such file'],
        ['TLS_FILE', '/tls/keys/2/public_key', 'cannot read /nowhere/d.pem: no such file'],
        ['TLS_FILE', '/tls/keys/2/private_key', 'cannot read /nowhere/d.key: no such file'],
        ['TLS_FILE', '/tls/ca_certs/0', 'cannot read /nowhere/c.pem: no such file'],
      ]);
    });

    it('is rejected for files whose content is not a certificate or key', async () => {
      const { certificate, privateKey } = secure.server;
      const empty = file('empty.pem', 'nothing here');
      const broken = file('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
      for (const [keys, pointer] of [
        [{ public_key: empty, private_key: privateKey }, '/tls/keys/0/public_key'],
        [{ public_key: broken, private_key: privateKey }, '/tls/keys/0/public_key'],
        [{ public_key: certificate, private_key: empty }, '/tls/keys/0/private_key'],
      ] as const) {
        const [[code, at, message]] = (await secure.refused({ tls: { keys: [keys] } })) as [[string, string, string]];
        deepEqual([code, at], ['TLS_INVALID', pointer]);
        match(message, /(empty|broken)\.pem/);
      }
      const fields = { enable_mtls: true, ca_certs: [empty] };
      deepEqual((await secure.refused(secure.tls(fields)))[0]!.slice(0, 2), ['TLS_INVALID', '/tls/ca_certs/0']);
    });

    it('is rejected for the key of another certificate', async () => {
      const keys = [{ public_key: secure.server.certificate, private_key: secure.authority.privateKey }];
      deepEqual(await secure.refused({ tls: { keys } }), [
        [
          'TLS_INVALID',
          '/tls/keys/0/private_key',
          `the private key ${secure.authority.privateKey} does not match the certificate ${secure.server.certificate}`,
        ],
      ]);
    });

    it('is rejected for reversed versions and unknown cipher suites', async () => {
      deepEqual(await secure.refused(secure.tls({ min_version: 'TLS13', max_version: 'TLS12' })), [
        ['TLS_VERSION', '/tls/min_version', 'min_version TLS13 is above max_version TLS12'],
      ]);
      deepEqual(await secure.refused(secure.tls({ cipher_suites: [4865, 5] })), [
        ['TLS_CIPHER', '/tls/cipher_suites/1', 'cipher suite 5 is not supported by this runtime'],
      ]);
    });

    it('is rejected if none of the cipher suites can be used with the TLS versions', async () => {
      deepEqual(await secure.refused(secure.tls({ min_version: 'TLS10', max_version: 'TLS11' })), [
        ['TLS_CIPHER', '/tls/cipher_suites', 'no cipher suite for TLS11 or older'],
      ]);
    });

    it('is rejected for an unknown version, cipher suite list or curve', async () => {
      deepEqual((await secure.refused(secure.tls({ min_version: 'TLS14' })))[0]!.slice(0, 2), [
        'SCHEMA_ENUM',
        '/tls/min_version',
      ]);
      equal((await secure.refused(secure.tls({ cipher_suites: [4865, 4865] })))[0]![0], 'SCHEMA_DUPLICATE');
      equal((await secure.refused(secure.tls({ curve_preferences: [29] })))[0]![0], 'SCHEMA_ENUM');
    });
  });

  it('warns of a certificate that expires within two weeks', async () => {
    const gateway = await startGateway(secure.tls());
    equal(gateway.status.warnings[0]!.code, 'TLS_EXPIRY');
    equal(gateway.status.warnings[0]!.pointer, '/tls/keys/0/public_key');
    await gateway.close();
  });

  it('logs a failed handshake with the address of the client', async () => {
    const sinks = rememberingSinks();
    const extra_config = { 'telemetry/logging': { level: 'DEBUG', stdout: true } };
    const { port } = await secure.listen({ ...secure.tls(), extra_config }, { sinks });
    await rejects(secure.handshake(port, { maxVersion: 'TLSv1.2' }));
    const line = sinks.lines.find((text) => text.includes('TLS handshake error'));
    match(line!, /DEBUG.*TLS handshake error from .*(127\.0\.0\.1|::1).*:\d+: ERR_SSL_UNSUPPORTED_PROTOCOL/);
  });

  it('closes a connection that never finishes its handshake', async () => {
    const { port } = await secure.listen({ ...secure.tls(), read_header_timeout: '50ms' });
    await once(secure.dial(port), 'close');
  });

  it('does not delay the shutdown with handshakes and idle connections', async () => {
    const { gateway, port } = await secure.listen(secure.tls());
    const silent = secure.dial(port);
    const idle = await secure.handshake(port);
    idle.on('error', () => {});
    const ended = Promise.all([once(silent, 'close'), once(idle, 'close')]);
    await secure.get(port);
    await gateway.close();
    await ended;
  });
});
