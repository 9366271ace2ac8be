import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, type JWTPayload, jwtVerify, UnsecuredJWT } from 'jose';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/gcp/index.ts';
import { until } from '../../../support/conditions.ts';
import {
  type Answering,
  json,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { findingsOf } from '../fixture.ts';

describe('auth/gcp', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const names = ['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'GCE_METADATA_HOST'];
  const environment = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  let folder: string;
  let backend: TestBackend;
  let server: TestBackend;
  let issue: Answering;
  let gateway: Operations | undefined;

  const token = (seconds = 3600) =>
    new UnsecuredJWT({ aud: 'a', n: server.requests.length })
      .setExpirationTime(new Date(Date.now() + seconds * 1000))
      .encode();

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-gcp-'));
    for (const name of names) delete process.env[name];
    process.env['CLOUDSDK_CONFIG'] = folder;
    backend = await startBackend(json({ ok: true }));
    issue = (seen, response) => json({ id_token: token() })(seen, response);
    server = await startBackend((seen, response) => issue(seen, response));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
    await backend.close();
    rmSync(folder, { recursive: true });
  });
  after(() => {
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const account = (more: object = {}) => ({
    type: 'service_account',
    client_email: 'gate@project.iam.gserviceaccount.com',
    private_key,
    private_key_id: 'key-1',
    token_uri: `${server.url}/token`,
    ...more,
  });
  const endpointOf = (gcp: object, more: object = {}) => ({
    endpoint: '/a',
    backend: [{ host: [backend.url], url_pattern: '/b', extra_config: { 'auth/gcp': gcp } }],
    ...more,
  });
  const config = (gcp: object = {}, more: object = {}) => ({
    version: 3,
    endpoints: [endpointOf({ audience: 'https://run.app', ...gcp }, more)],
  });
  const start = async (gcp: object, more: object = {}, options = {}) => {
    gateway = await startGateway(config(gcp, more), options);
  };
  const ask = (headers: Record<string, string> = {}) => gateway!.inject({ url: '/a', headers });
  const assertionOf = async (at: number): Promise<{ payload: JWTPayload; kid: string | undefined }> => {
    const form = new URLSearchParams(server.requests[at]!.body.toString());
    equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
    const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256' }] });
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion')!, keys, { algorithms: ['RS256'] });
    return { payload, kid: protectedHeader.kid };
  };

  it('sends the token of a service account, which is requested once', async () => {
    await start({ credentials_json: account() });
    for (let count = 0; count < 5; count++) equal((await ask()).statusCode, 200);
    equal(server.requests.length, 1);
    const { payload, kid } = await assertionOf(0);
    deepEqual(
      [payload.iss, payload.sub, payload.aud, payload['target_audience'], payload.exp! - payload.iat!, kid],
      [account().client_email, account().client_email, `${server.url}/token`, 'https://run.app', 3600, 'key-1'],
    );
    const [first] = backend.requests;
    match(first!.headers.authorization!, /^Bearer [\w-]+\.[\w-]+\.$/);
    equal(new Set(backend.requests.map(({ headers }) => headers.authorization)).size, 1);
  });

  it("replaces the client's Authorization header, regardless of input_headers", async () => {
    await start({ credentials_json: account() }, { input_headers: ['*'] });
    await ask({ authorization: 'Bearer mine' });
    ok(!backend.requests[0]!.headers.authorization!.includes('mine'));
  });

  it("keeps the client's Authorization header if the token is sent in another header", async () => {
    const s2s_auth_header = 'X-Serverless-Authorization';
    await start(
      { credentials_json: account(), s2s_auth_header },
      { input_headers: ['Authorization', s2s_auth_header] },
    );
    await ask({ authorization: 'Bearer u', 'x-serverless-authorization': 'forged' });
    const { headers } = backend.requests[0]!;
    equal(headers.authorization, 'Bearer u');
    match(String(headers['x-serverless-authorization']), /^Bearer ey/);
  });

  it('calls no backend if the token server fails, logs the reason without the key, and retries for the next request', async () => {
    const sinks = rememberingSinks();
    issue = (seen, response) => json({ error: 'x', error_description: 'account disabled' }, 500)(seen, response);
    await start({ credentials_json: account() }, {}, { sinks });
    deepEqual([(await ask()).statusCode, (await ask()).statusCode], [500, 500]);
    deepEqual([backend.requests.length, server.requests.length], [0, 2]);
    await until(() => sinks.lines.some((line) => line.includes('account disabled')));
    const text = sinks.lines.join('');
    match(
      text,
      /\[ENDPOINT: \/a\] no identity token could be obtained from Google: the token server returned status 500: account disabled/,
    );
    ok(!text.includes('PRIVATE KEY'));
  });

  it('masks its own assertion if an error message of the token server repeats it', async () => {
    const sinks = rememberingSinks();
    issue = (seen, response) => json({ error_description: seen.body.toString() }, 400)(seen, response);
    await start({ credentials_json: account() }, {}, { sinks });
    equal((await ask()).statusCode, 500);
    await until(() => sinks.lines.some((line) => line.includes('returned status 400')));
    ok(!sinks.lines.join('').includes('assertion='));
  });

  it('returns a partial response if one of several backends has no token', async () => {
    issue = json({}, 500);
    const { backend: backends } = endpointOf({ audience: 'a', credentials_json: account() });
    await start({}, { backend: [...backends, { host: [backend.url], url_pattern: '/c', group: 'c' }] });
    const { statusCode, headers, body } = await ask();
    deepEqual([statusCode, headers['x-gateway-completed'], JSON.parse(body)], [200, 'false', { c: { ok: true } }]);
  });

  for (const [what, body] of [
    ['no token', {}],
    ['an invalid token', { id_token: 'x' }],
    ['a token without an expiration', { id_token: new UnsecuredJWT({}).encode() }],
    ['a token with a line break', { id_token: `${new UnsecuredJWT({ exp: 9e9 }).encode()}\r\nX: y` }],
  ] as const) {
    it(`calls no backend with ${what}`, async () => {
      issue = json(body);
      await start({ credentials_json: account() });
      deepEqual([(await ask()).statusCode, backend.requests.length], [500, 0]);
    });
  }

  it('adds custom claims to the token request, which cannot replace the standard claims', async () => {
    await start({ credentials_json: account(), custom_claims: { tenant: 'a', nested: { b: [1] } } });
    await ask();
    const { payload } = await assertionOf(0);
    deepEqual([payload['tenant'], payload['nested']], ['a', { b: [1] }]);
  });

  it('requests a new token five minutes before the old one expires', async () => {
    issue = (seen, response) => json({ id_token: token(299) })(seen, response);
    await start({ credentials_json: account() });
    await ask();
    await ask();
    equal(server.requests.length, 2);
  });

  it('keeps its token across reloads that do not change its settings', async () => {
    await start({ credentials_json: account() });
    await ask();
    await gateway!.reload({ ...config({ credentials_json: account() }), name: 'another' });
    await ask();
    equal(server.requests.length, 1);
    await gateway!.reload(config({ credentials_json: account(), audience: 'other' }));
    await ask();
    equal(server.requests.length, 2);
  });

  it('does not send its token to another host after a redirect', async () => {
    const other = await startBackend(json({ other: true }));
    await backend.close();
    backend = await startBackend((_seen, response) => {
      response.writeHead(302, { location: `${other.url.replace('127.0.0.1', 'localhost')}/x` }).end();
    });
    await start({ credentials_json: account() });
    equal((await ask()).json().other, true);
    equal(other.requests[0]!.headers.authorization, undefined);
    await other.close();
  });

  for (const [what, place] of [
    ['from credentials_file', (file: string) => ({ credentials_file: file })],
    [
      'from the environment variable',
      (file: string) => {
        process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
        return {};
      },
    ],
    ['from the gcloud directory', () => ({})],
  ] as const) {
    it(`uses the credentials file ${what}`, async () => {
      const file = join(
        folder,
        what === 'from the gcloud directory' ? 'application_default_credentials.json' : 'key.json',
      );
      writeFileSync(file, JSON.stringify(account()));
      await start(place(file));
      equal((await ask()).statusCode, 200);
      equal((await assertionOf(0)).payload.iss, account().client_email);
    });
  }

  it('queries the metadata server if no credentials file exists', async () => {
    process.env['GCE_METADATA_HOST'] = server.host;
    issue = (_seen, response) => response.end(`${token()}\n`);
    await start({});
    equal((await ask()).statusCode, 200);
    const { target, headers } = server.requests[0]!;
    equal(
      target,
      '/computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Frun.app&format=full',
    );
    equal(headers['metadata-flavor'], 'Google');
    match(backend.requests[0]!.headers.authorization!, /^Bearer ey[\w-.]+$/);
  });

  it('fails immediately without credentials and calls no backend', async () => {
    process.env['GCE_METADATA_HOST'] = server.host;
    issue = (_seen, response) => response.writeHead(404).end();
    const sinks = rememberingSinks();
    await start({}, {}, { sinks });
    await until(() => sinks.lines.some((line) => line.includes('[GCP] no credentials: ')));
    deepEqual([(await ask()).statusCode, backend.requests.length], [500, 0]);
  });

  describe('in the configuration check', () => {
    const open = (gcp: object, host = 'https://run.app') =>
      openHarness(plugin, 'backend', { audience: 'a', ...gcp }, { backend: { host: [host] } });

    for (const [what, gcp, finding] of [
      ['a file that does not exist', { credentials_file: '/nonexistent' }, 'GCP_FILE /credentials_file'],
      ['an unsupported credential type', { type: 'authorized_user' }, 'GCP_CREDENTIALS /credentials_json'],
      [
        'an impersonated service account',
        { type: 'impersonated_service_account' },
        'GCP_CREDENTIALS /credentials_json',
      ],
      ['a file without a credential type', { type: 7 }, 'GCP_CREDENTIALS /credentials_json'],
      ['a file without an account email', { client_email: undefined }, 'GCP_CREDENTIALS /credentials_json'],
      ['an invalid key', { private_key: 'secret' }, 'GCP_CREDENTIALS /credentials_json'],
      ['an invalid URL', { token_uri: 'ftp://x' }, 'GCP_CREDENTIALS /credentials_json'],
    ] as const) {
      it(`rejects ${what}`, async () => {
        const given = 'credentials_file' in gcp ? gcp : { credentials_json: account(gcp) };
        deepEqual(await findingsOf(open(JSON.parse(JSON.stringify(given)))), [finding]);
      });
    }

    it('rejects a credentials file that is not valid JSON without revealing its content', async () => {
      const file = join(folder, 'broken.json');
      writeFileSync(file, '{"private_key": "secret thing"');
      const error = await open({ credentials_file: file }).catch((thrown) => thrown);
      match(error.message, /GCP_CREDENTIALS .*is not valid JSON/);
      ok(!error.message.includes('secret'));
    });

    it('rejects reserved claims and invalid headers', async () => {
      const credentials_json = account();
      deepEqual(await findingsOf(open({ credentials_json, custom_claims: { aud: 'x' } })), [
        'GCP_CLAIM /custom_claims/aud',
      ]);
      deepEqual(await findingsOf(open({ credentials_json, s2s_auth_header: 'a b' })), ['GCP_HEADER /s2s_auth_header']);
    });

    it('warns about hosts without TLS, and about claims and files without effect', async () => {
      const codesOf = async (gcp: object, host?: string) => {
        const harness = await open(gcp, host);
        await harness.close();
        return harness.warnings.map(({ code }) => code).filter((code) => code !== 'SECRET_LITERAL');
      };
      const credentials_json = account();
      deepEqual(await codesOf({ credentials_json }, 'http://run.app'), ['GCP_INSECURE']);
      deepEqual(await codesOf({ custom_claims: { a: 1 } }), ['GCP_CLAIMS']);
      deepEqual(await codesOf({ credentials_json, credentials_file: 'x' }), ['GCP_UNUSED']);
    });
  });
});
