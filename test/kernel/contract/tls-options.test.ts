import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { ConfigError, readPem, type ServerTlsConfig, systemAuthorities, tlsProtocol } from '#contract';
import { keyFilesOf, speaksOld } from '../../../kernel/contract/internal.ts';

type Protocol = Parameters<typeof tlsProtocol>[0];

const fault = (kind: string, at: string, message: string, cause?: unknown) =>
  new ConfigError(`TLS_${kind}`, at, message, { cause });
const protocol = (fields: Partial<Protocol> = {}): Protocol => ({
  min_version: 'TLS13',
  max_version: 'TLS13',
  cipher_suites: [4865, 49199],
  curve_preferences: [23, 24, 25],
  ...fields,
});
const always = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

describe('TLS versions, cipher suites and curves', () => {
  it('are converted to options of Node.js', () => {
    deepEqual(tlsProtocol(protocol({ min_version: 'TLS12' }), fault), {
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      ciphers: `${always}:ECDHE-RSA-AES128-GCM-SHA256`,
      ecdhCurve: 'P-256:P-384:P-521',
    });
  });

  it('have no curves by default, which leaves them to Node.js', () => {
    equal('ecdhCurve' in tlsProtocol(protocol({ curve_preferences: [] }), fault), false);
    equal(tlsProtocol(protocol({ curve_preferences: [25] }), fault).ecdhCurve, 'P-521');
  });

  for (const min_version of ['TLS10', 'TLS11'] as const) {
    it(`with ${min_version} as the minimum lower the security level of OpenSSL`, () => {
      const old = protocol({ min_version, cipher_suites: [47] });
      ok(speaksOld(old));
      equal(tlsProtocol(old, fault).ciphers, `${always}:AES128-SHA:@SECLEVEL=0`);
      equal(speaksOld(protocol({ min_version: 'TLS12' })), false);
    });
  }

  for (const [fields, code, pointer] of [
    [{ min_version: 'TLS13', max_version: 'TLS12' }, 'TLS_VERSION', '/min_version'],
    [{ cipher_suites: [49199, 9999] }, 'TLS_CIPHER', '/cipher_suites/1'],
    [{ min_version: 'TLS12', max_version: 'TLS12', cipher_suites: [4865] }, 'TLS_CIPHER', '/cipher_suites'],
    [{ min_version: 'TLS10', max_version: 'TLS11', cipher_suites: [49199] }, 'TLS_CIPHER', '/cipher_suites'],
  ] as const) {
    it(`with an error at ${pointer} are rejected: ${JSON.stringify(fields)}`, () => {
      throws(
        () => tlsProtocol(protocol(fields as Partial<Protocol>), fault),
        (error: ConfigError) => error.code === code && error.pointer === pointer,
      );
    });
  }

  it('ignore SSL 3.0, and use the default version instead', () => {
    for (const fields of [{ min_version: 'SSL3.0' }, { max_version: 'SSL3.0' }] as const) {
      const { minVersion, maxVersion } = tlsProtocol(protocol(fields), fault);
      deepEqual([minVersion, maxVersion], ['TLSv1.3', 'TLSv1.3']);
    }
  });

  it('can be the same version twice, and need suites only for TLS 1.2', () => {
    for (const suite of [49199, 47]) {
      const only12 = protocol({ min_version: 'TLS12', max_version: 'TLS12', cipher_suites: [suite] });
      equal(tlsProtocol(only12, fault).maxVersion, 'TLSv1.2');
    }
    const old = protocol({ min_version: 'TLS10', max_version: 'TLS11', cipher_suites: [47, 49199] });
    equal(tlsProtocol(old, fault).maxVersion, 'TLSv1.1');
  });
});

describe('the files of a TLS configuration', () => {
  it('are read as text', () => {
    equal(
      readPem(() => Buffer.from('pem'), '/a', '/ca_certs/0', fault),
      'pem',
    );
  });

  it('that cannot be read are reported with path and reason', () => {
    const cause = Object.assign(new Error('x'), { code: 'ENOENT' });
    const read = () => {
      throw cause;
    };
    throws(
      () => readPem(read, '/a.pem', '/ca_certs/0', fault),
      (error: ConfigError) =>
        error.code === 'TLS_FILE' &&
        error.pointer === '/ca_certs/0' &&
        error.cause === cause &&
        error.message === 'cannot read /a.pem: no such file',
    );
  });

  it('are the pairs of the list "keys" in order, followed by the pair of the old fields', () => {
    const keys = [{ public_key: 'a.pem', private_key: 'a.key' }, { public_key: 'b.pem' }];
    const of = (config: object) => keyFilesOf({ keys: [], ...config } as unknown as ServerTlsConfig);
    deepEqual(of({ keys, public_key: 'c.pem' }), [
      {
        certificate: 'a.pem',
        privateKey: 'a.key',
        certificateAt: '/keys/0/public_key',
        privateKeyAt: '/keys/0/private_key',
      },
      {
        certificate: 'b.pem',
        privateKey: undefined,
        certificateAt: '/keys/1/public_key',
        privateKeyAt: '/keys/1/private_key',
      },
      { certificate: 'c.pem', privateKey: undefined, certificateAt: '/public_key', privateKeyAt: '/private_key' },
    ]);
    equal(of({ private_key: 'c.key' }).length, 1);
    deepEqual(of({}), []);
  });

  it('with the CAs of the system trust store are read once, without duplicates', () => {
    const authorities = systemAuthorities();
    equal(systemAuthorities(), authorities);
    equal(new Set(authorities).size, authorities.length);
    ok(authorities.length > 0);
  });
});
