import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { distinguishedName } from '../../../kernel/pipeline/request/client-certificate.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import type { KeyPair } from '../../support/certificates.ts';
import { json, type TestBackend } from '../../support/gateway.ts';
import { finding, findings, service } from '../config/findings.ts';
import { ask, Secure } from '../server/secure.ts';

const forged = 'By=spiffe://evil;Hash=00;Subject="CN=admin"';

describe('the header X-Forwarded-Client-Cert', () => {
  let secure: Secure;
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let visitor: KeyPair;
  before(() => {
    secure = new Secure();
    const names =
      'URI:spiffe://example.test/ns/a,URI:https://example.test/a?b=c;d,DNS:a.test,DNS:b.test,email:x@a.test';
    visitor = secure.made.issue(
      'visitor',
      secure.authority,
      names,
      '/C=US/O=Smith, "Sons" \\\\ Co/OU=a\\+b/CN=visitor;é',
    );
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  const config = (header: object | undefined, more: object = {}) => ({
    version: 3,
    ...secure.tls({
      enable_mtls: true,
      disable_system_ca_pool: true,
      ca_certs: [secure.authority.certificate],
    }),
    endpoints: [
      { endpoint: '/a', input_headers: ['*'], backend: [{ host: [backend.url], url_pattern: '/' }] },
      {
        endpoint: '/listed',
        input_headers: ['X-Forwarded-Client-Cert'],
        output_encoding: 'no-op',
        backend: [{ host: [backend.url], url_pattern: '/', encoding: 'no-op' }],
      },
    ],
    ...(header && { forward_client_cert: header }),
    ...more,
  });
  const listen = async (header?: object, more: object = {}) => {
    backend = await secure.backend(json({ a: 1 }));
    const opened = await secure.listen(config(header, more));
    ({ gateway, port } = opened);
  };
  const shows = () => ({ cert: visitor.certificatePem, key: visitor.privateKeyPem });
  const get = async (path = '/a', headers: Record<string, string> = {}) => {
    equal(await secure.get(port, path, { ...shows(), headers }), 200);
    return backend.requests.at(-1)!.headers['x-forwarded-client-cert'];
  };
  const hash = () => new X509Certificate(visitor.certificatePem).fingerprint256.replaceAll(':', '').toLowerCase();
  const subject = 'Subject="CN=visitor\\;\\C3\\A9,OU=a\\+b,O=Smith\\, \\22Sons\\22 \\5C Co,C=US"';
  const uris = 'URI=spiffe://example.test/ns/a;URI="https://example.test/a?b=c;d"';

  it('is never sent by default, not even if the client sends it in another spelling', async () => {
    await listen();
    for (const path of ['/a', '/listed']) {
      for (const name of [
        'X-Forwarded-Client-Cert',
        'x-forwarded-client-cert',
        'X_Forwarded_Client_Cert',
        'X-Forwarded-Client_Cert',
      ]) {
        await get(path, { [name]: forged });
        const { rawHeaders } = backend.requests.at(-1)!;
        equal(rawHeaders.join().includes('evil'), false, `${path} ${name}`);
      }
    }
  });

  it('is not sent in the mode sanitize', async () => {
    await listen({ mode: 'sanitize' });
    equal(await get('/a', { 'X-Forwarded-Client-Cert': forged }), undefined);
  });

  it('describes the certificate in the mode sanitize_set, with quoted names, and replaces the header that the client sent', async () => {
    await listen({ mode: 'sanitize_set' });
    const expected = `Hash=${hash()};${subject};${uris};DNS=a.test;DNS=b.test`;
    equal(await get('/a', { 'X-Forwarded-Client-Cert': forged }), expected);
    equal(await get('/listed'), expected);
  });

  it('is the same for all requests of a connection, and over HTTP/2', async () => {
    await listen({ mode: 'sanitize_set', details: [] });
    const session = secure.session(port, 'https', { ...shows(), ca: secure.authority.certificatePem } as object);
    await ask(session, { ':path': '/a' });
    await ask(session, { ':path': '/a', 'x-forwarded-client-cert': forged });
    deepEqual(
      backend.requests.map(({ headers }) => headers['x-forwarded-client-cert']),
      [`Hash=${hash()}`, `Hash=${hash()}`],
    );
  });

  it('contains the certificate and its chain if configured', async () => {
    await listen({ mode: 'sanitize_set', details: ['chain', 'cert'] });
    const [, cert, chain] = (await get())!.toString().split(';');
    equal(
      new X509Certificate(decodeURIComponent(/^Cert="([^"]+)"$/.exec(cert!)![1]!)).subject.includes('visitor'),
      true,
    );
    match(decodeURIComponent(/^Chain="([^"]+)"$/.exec(chain!)![1]!), /^-----BEGIN CERTIFICATE-----/);
  });

  it('begins with the URI of the gateway if its own certificate has one', async () => {
    const server = secure.made.issue('named', secure.authority, 'DNS:localhost,URI:spiffe://example.test/gateway');
    const tls = secure.tls(
      { enable_mtls: true, disable_system_ca_pool: true, ca_certs: [secure.authority.certificate] },
      server,
    );
    await listen({ mode: 'sanitize_set', details: [] }, tls);
    equal(await get(), `By=spiffe://example.test/gateway;Hash=${hash()}`);
  });

  it('of a client is forwarded in the mode forward_only', async () => {
    await listen({ mode: 'forward_only' });
    equal(await get('/a', { 'X-Forwarded-Client-Cert': 'Hash=ab' }), 'Hash=ab');
    equal(await get(), undefined);
  });

  it('is appended to the header that the client sent in the mode append_forward', async () => {
    await listen({ mode: 'append_forward', details: [] });
    equal(await get('/a', { 'X-Forwarded-Client-Cert': 'Hash=ab' }), `Hash=ab,Hash=${hash()}`);
    equal(await get(), `Hash=${hash()}`);
  });

  for (const mode of ['forward_only', 'append_forward', 'sanitize_set'] as const) {
    it(`is not sent in the mode ${mode} for clients without a certificate`, async () => {
      await listen({ mode }, { tls: { disabled: true, keys: [] } });
      await fetch(`http://127.0.0.1:${port}/a`, { headers: { 'X-Forwarded-Client-Cert': forged } });
      equal(backend.requests[0]!.headers['x-forwarded-client-cert'], undefined);
    });
  }

  it('of any client is forwarded in the mode always_forward_only', async () => {
    await listen({ mode: 'always_forward_only' }, { tls: { disabled: true, keys: [] } });
    await fetch(`http://127.0.0.1:${port}/a`, { headers: { 'X-Forwarded-Client-Cert': 'Hash=ab' } });
    equal(backend.requests[0]!.headers['x-forwarded-client-cert'], 'Hash=ab');
  });

  it('is sent as the next configuration requires after a reload', async () => {
    await listen();
    equal(await get(), undefined);
    await gateway.reload(config({ mode: 'sanitize_set', details: [] }));
    notEqual(await get(), undefined);
  });

  it('is not sent to backends with hide_client', async () => {
    backend = await secure.backend(json({ a: 1 }));
    const { endpoints } = config(undefined);
    const hidden = {
      ...endpoints[0],
      backend: [{ ...endpoints[0]!.backend[0], extra_config: { 'backend/http/client': { hide_client: true } } }],
    };
    ({ port } = await secure.listen({ ...config({ mode: 'sanitize_set' }), endpoints: [hidden] }));
    equal(await get(), undefined);
  });

  it('is reported by check if clients present no certificate', () => {
    const document = (fields: object) => ({ ...service([]), forward_client_cert: fields });
    equal(finding(document({ mode: 'sanitize_set' }), 'CLIENT_CERT_UNUSED').pointer, '/forward_client_cert/mode');
    equal(findings(document({}), 'CLIENT_CERT_UNUSED').length, 0);
    equal(findings(document({ mode: 'always_forward_only' }), 'CLIENT_CERT_UNUSED').length, 0);
  });
});

describe('a distinguished name in one line', () => {
  const rows: [subject: string, line: string][] = [
    ['C=US\nO=Org\nCN=a', 'CN=a,O=Org,C=US'],
    ['CN=a\\, b', 'CN=a\\, b'],
    ['CN=a\\"b', 'CN=a\\22b'],
    ['CN=a\\\\', 'CN=a\\5C'],
    ['CN=a\\\\\\"', 'CN=a\\5C\\22'],
    ['CN=é', 'CN=\\C3\\A9'],
    ['CN=\u{1f600}', 'CN=\\F0\\9F\\98\\80'],
    ['OU=a + CN=b', 'OU=a+CN=b'],
    ['CN=a\\0Ab', 'CN=a\\0Ab'],
    ['', ''],
  ];
  for (const [subject, line] of rows) {
    it(`made of ${JSON.stringify(subject)} is ${JSON.stringify(line)}`, () => equal(distinguishedName(subject), line));
  }
});
