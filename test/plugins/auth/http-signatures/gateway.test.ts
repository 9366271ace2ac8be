import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac, createPrivateKey, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { HeaderBag } from '#contract';
import type { Operations } from '#kernel';
import { signatureBase } from '../../../../plugins/auth/http-signatures/base.ts';
import { contentDigest } from '../../../../plugins/auth/http-signatures/digest.ts';
import { plugin } from '../../../../plugins/auth/http-signatures/index.ts';
import { readBytes, readInputs } from '../../../../plugins/auth/http-signatures/structured.ts';
import { chanceFrom } from '../../../support/chance.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { openHarness } from '../../../support/harness.ts';
import { findingsOf, makeKeyFiles } from '../fixture.ts';

const secret = Buffer.from('a-secret-of-the-tests-of-32-bytes');
const seconds = () => Math.floor(Date.now() / 1000);

describe('HTTP message signatures', () => {
  const files = makeKeyFiles();
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let path: string;

  before(async () => {
    path = files.write({ keys: [{ kty: 'oct', kid: 'k', k: secret.toString('base64url') }] });
    backend = await startBackend((seen, response) => json({ body: seen.body.toString() })(seen, response));
  });
  after(async () => {
    files.remove();
    await backend.close();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const to = (extra_config: object = {}) => [{ host: [backend.url], url_pattern: '/b', extra_config }];
  const serve = async (config: object = {}, more: object = {}) => {
    const own = { alg: 'HS256', jwk_local_path: path, ...config };
    const endpoint = { endpoint: '/a/{b}', backend: to(), ...more, extra_config: { 'auth/http-signatures': own } };
    gateway = await startGateway({ endpoints: [endpoint] });
  };
  const ask = (headers: Record<string, string> = {}, more: object = {}) =>
    gateway!.inject({ url: '/a/c?d=e', headers: { host: 'shop.example', ...headers }, ...more } as never);

  const derived: Record<string, string> = {
    '@method': 'GET',
    '@authority': 'shop.example',
    '@path': '/a/c',
    '@query': '?d=e',
    '@scheme': 'http',
    '@target-uri': 'http://shop.example/a/c?d=e',
    '@request-target': '/a/c?d=e',
    '"@query-param";name="d"': 'e',
  };
  const usual = ['@method', '@authority', '@path', '@query'];

  /** Headers of a request that is signed by another implementation than the gateway's. */
  const signed = (
    covered: readonly string[] = usual,
    params: string = `created=${seconds()};keyid="k"`,
    values: Record<string, string> = {},
  ): Record<string, string> => {
    const all = { ...derived, ...values };
    const identifier = (name: string) => (name.includes(';') ? name : `"${name}"`);
    const list = `(${covered.map(identifier).join(' ')});${params}`;
    const lines = covered.map((name) => `${identifier(name)}: ${all[name]}\n`);
    const base = `${lines.join('')}"@signature-params": ${list}`;
    const signature = createHmac('sha256', secret).update(base).digest('base64');
    return { 'signature-input': `sig=${list}`, signature: `sig=:${signature}:` };
  };
  const status = async (headers: Record<string, string>, more: object = {}) => (await ask(headers, more)).statusCode;

  it('accepts a request whose signature covers the required components', async () => {
    await serve();
    equal(await status(signed()), 200);
    equal(
      await status(signed([...usual, '@scheme', '@target-uri', '@request-target', '"@query-param";name="d"'])),
      200,
    );
    equal(await status({ ...signed([...usual, 'x-a'], undefined, { 'x-a': 'b, c' }), 'x-a': ' b, c ' }), 200);
  });

  it('rejects a request without a signature, or with another method, path, query, host or header', async () => {
    await serve();
    equal(await status({}), 401);
    const headers = signed([...usual, 'x-a'], undefined, { 'x-a': 'b' });
    equal(await status({ ...headers, 'x-a': 'b' }), 200);
    equal(await status({ ...headers, 'x-a': 'c' }), 401);
    equal(await status(headers), 401);
    for (const more of [{ url: '/a/d?d=e' }, { url: '/a/c?d=f' }, { url: '/a/c' }, { method: 'HEAD' }]) {
      ok((await status(signed(), more)) >= 400);
    }
    equal(await status({ ...signed(), host: 'other.example' }), 401);
  });

  for (const [title, headers] of [
    ['a component that is not covered', () => signed(['@method', '@path', '@query'])],
    ['an unknown key', () => signed(usual, `created=${seconds()};keyid="other"`)],
    ['no key ID', () => signed(usual, `created=${seconds()}`)],
    ['another algorithm', () => signed(usual, `created=${seconds()};keyid="k";alg="ed25519"`)],
    ['no creation time', () => signed(usual, 'keyid="k"')],
    ['a creation time in the future', () => signed(usual, `created=${seconds() + 60};keyid="k"`)],
    ['a creation time too long ago', () => signed(usual, `created=${seconds() - 400};keyid="k"`)],
    ['an expiry in the past', () => signed(usual, `created=${seconds()};keyid="k";expires=${seconds() - 10}`)],
    ['an expiry that is text', () => signed(usual, `created=${seconds()};keyid="k";expires="never"`)],
    ['a component that is repeated', () => signed([...usual, '@method'])],
    ['a component that is not supported', () => signed([...usual, '@status'], undefined, { '@status': '200' })],
    ['another label', () => ({ ...signed(), signature: signed()['signature']!.replace('sig=', 'other=') })],
    ['a signature that is cut', () => ({ ...signed(), signature: 'sig=:YQ==:' })],
    ['a malformed input', () => ({ ...signed(), 'signature-input': 'sig=("@method"' })],
    ['the label __proto__', () => ({ 'signature-input': '__proto__=();created=1', signature: '__proto__=:YQ==:' })],
    ['an input that is too long', () => ({ ...signed(), 'signature-input': `sig=(${' '.repeat(20_000)})` })],
  ] as const) {
    it(`rejects a signature with ${title}`, async () => {
      await serve();
      equal(await status(headers()), 401);
    });
  }

  it('verifies the digest of a body, which the backend receives', async () => {
    await serve({}, { method: 'POST' });
    const post = (headers: Record<string, string>, payload: string) => ask(headers, { method: 'POST', payload });
    const values = { '@method': 'POST', 'content-digest': contentDigest(Buffer.from('text')) };
    const covering = {
      ...signed([...usual, 'content-digest'], undefined, values),
      'content-digest': values['content-digest'],
    };
    equal((await post(covering, 'text')).json().body, 'text');
    equal((await post(covering, 'TEXT')).statusCode, 401);
    equal((await post(signed(usual, undefined, values), 'text')).statusCode, 401);
  });

  it('rejects a body that is too large to be compared with its digest', async () => {
    await serve({}, { method: 'POST' });
    const payload = Buffer.alloc(10 * 1024 * 1024 + 1);
    const values = { '@method': 'POST', 'content-digest': contentDigest(payload) };
    const headers = signed([...usual, 'content-digest'], undefined, values);
    const more = { method: 'POST', payload };
    equal(await status({ ...headers, 'content-digest': values['content-digest'] }, more), 413);
  });

  it('selects the signature by its tag, and rejects several signatures with that tag', async () => {
    await serve({ tag: 'orders' });
    const one = signed(usual, `created=${seconds()};keyid="k";tag="orders"`);
    equal(await status(one), 200);
    const both = {
      'signature-input': `${one['signature-input']}, b=();created=1;tag="other"`,
      signature: `${one['signature']}, b=:YQ==:`,
    };
    equal(await status(both), 200);
    equal(await status({ ...both, 'signature-input': both['signature-input'].replace('"other"', '"orders"') }), 401);
    equal(await status(signed()), 401);
  });

  it('passes the key ID to backends, and never a header of the client with the same name', async () => {
    await serve({ key_id_header: 'X-Key' }, { input_headers: ['X-Key'] });
    equal(await status({ ...signed(), 'x-key': 'forged' }), 200);
    equal(backend.requests.at(-1)!.headers['x-key'], 'k');
  });

  it('verifies the example of RFC 9421 B.2.6, with its key', () => {
    const key = createPrivateKey(
      '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----',
    );
    const input =
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
    const { text, components } = readInputs(input)!.get('sig-b26')!;
    const headers = new HeaderBag([
      ...['Date', 'Tue, 20 Apr 2021 02:07:55 GMT', 'Content-Type', 'application/json', 'Content-Length', '18'],
    ]);
    const message = {
      method: 'POST',
      scheme: 'https',
      host: 'example.com',
      path: '/foo',
      search: '',
      headers,
    } as const;
    const made = signatureBase(components, text, message);
    ok('base' in made);
    equal(
      signWith(null, made.base, key).toString('base64'),
      'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
    );
  });

  it('rejects malicious headers without an exception', () => {
    const chance = chanceFrom(11);
    const letters = 'a1("@:=;,)?. \\*';
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: chance.below(30) }, () => letters[chance.below(letters.length)]).join('');
      readInputs(`sig=${text}`);
      readBytes(text);
    }
  });

  describe('in the configuration check', () => {
    for (const [at, config, finding] of [
      ['endpoint', { required_components: ['@status'] }, 'HTTP_SIGNATURES_COMPONENT /required_components/0'],
      ['endpoint', { required_components: ['Date'] }, 'HTTP_SIGNATURES_COMPONENT /required_components/0'],
      ['endpoint', { key_id_header: 'a b' }, 'HTTP_SIGNATURES_HEADER /key_id_header'],
      ['backend', { kid: 'k', components: ['@signature-params'] }, 'HTTP_SIGNATURES_COMPONENT /components/0'],
      ['backend', { kid: 'other' }, 'HTTP_SIGNATURES_KEY /kid'],
      ['backend', { kid: 'k', tag: 'é' }, 'HTTP_SIGNATURES_KEY '],
    ] as const) {
      it(`rejects ${JSON.stringify(config)} at the ${at}`, async () => {
        const own = { alg: 'HS256', jwk_local_path: path, ...config };
        deepEqual(await findingsOf(openHarness(plugin, at, own)), [finding]);
      });
    }
  });

  for (const [alg, pair] of [
    ['EdDSA', generateKeyPairSync('ed25519')],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['PS512', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ] as const) {
    it(`signs backend requests with ${alg}, which another gateway accepts`, async () => {
      const keys = files.write({ keys: [{ ...pair.privateKey.export({ format: 'jwk' }), kid: 'own' }] });
      const publicKeys = files.write({ keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'own' }] });
      const verifying = { alg, jwk_local_path: publicKeys, tag: 'between' };
      gateway = await startGateway({
        endpoints: [
          { endpoint: '/in', method: 'POST', backend: to(), extra_config: { 'auth/http-signatures': verifying } },
        ],
      });
      const { port } = await gateway.listen();
      const own = { alg, kid: 'own', jwk_local_path: keys, tag: 'between', expires_after: '1m' };
      const backends = [
        { host: [`http://127.0.0.1:${port}`], url_pattern: '/in?x={b}', extra_config: { 'auth/http-signatures': own } },
      ];
      const front = await startGateway({ endpoints: [{ endpoint: '/a/{b}', method: 'POST', backend: backends }] });
      const headers = { signature: 'forged=:YQ==:', 'signature-input': 'forged=();created=1' };
      const { statusCode, body } = await front.inject({ method: 'POST', url: '/a/c', payload: 'hello', headers });
      deepEqual([statusCode, JSON.parse(body)], [200, { body: 'hello' }]);
      await front.close();
    });
  }
});
