import { deepEqual, equal } from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { CLIENT } from './provider.ts';
import { OidcStage } from './stage.ts';

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('auth/oidc with forged responses of a provider', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
    await stage.serve();
  });
  afterEach(() => stage.close());

  /** Status of a login for which the provider returns another ID token, and whether the login created a session. */
  const logIn = async (forge: (nonce: string) => string | Promise<string>): Promise<[number, boolean]> => {
    let nonce = '';
    stage.provider.intercept = (message, response) => {
      if (message.url?.startsWith('/auth?')) nonce = new URL(message.url, 'http://x').searchParams.get('nonce')!;
      if (message.url !== '/token') return false;
      void Promise.resolve(forge(nonce)).then((id_token) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', expires_in: 600, id_token }));
      });
      return true;
    };
    const browser = stage.browser();
    const { status } = await browser.open('/a');
    return [status, browser.own.has('__Host-oidc.main.0')];
  };

  const valid = (nonce: string) => ({ iss: stage.provider.issuer, aud: CLIENT.client_id, sub: 'ada', nonce });
  const now = Math.floor(Date.now() / 1000);

  it('accepts a valid ID token', async () => {
    deepEqual(await logIn((nonce) => stage.provider.sign(valid(nonce))), [200, true]);
  });

  for (const [name, change] of Object.entries({
    'another nonce': { nonce: 'of-another-login' },
    'no nonce': { nonce: undefined },
    'another issuer': { iss: 'https://evil.test' },
    'another audience': { aud: 'another-client' },
    'several audiences without an authorized party': { aud: [CLIENT.client_id, 'another-client'] },
    'another authorized party': { aud: [CLIENT.client_id, 'another-client'], azp: 'another-client' },
    'no subject': { sub: undefined },
    'a subject that is not a text': { sub: 1 },
    'an expiry in the past': { exp: now - 3600 },
    'an expiry that is not a number': { exp: 'never' },
    'a time of issue that is not a number': { iat: {} },
    'a start in the future': { nbf: now + 3600 },
  })) {
    it(`rejects an ID token with ${name}`, async () => {
      deepEqual(await logIn((nonce) => stage.provider.sign({ ...valid(nonce), ...change })), [502, false]);
      equal(stage.backend.requests.length, 0);
    });
  }

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const times = { iat: now, exp: now + 60 };
  const parts = (header: object, nonce: string) => `${encoded(header)}.${encoded({ ...valid(nonce), ...times })}`;
  const forgeries: Record<string, (nonce: string) => string | Promise<string>> = {
    'without a signature': (nonce) => `${parts({ alg: 'none' }, nonce)}.`,
    'with an empty signature': (nonce) => `${parts({ alg: 'RS256', kid: 'one' }, nonce)}.`,
    'with the signature of another key': (nonce) => {
      const signed = parts({ alg: 'RS256', kid: 'one' }, nonce);
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    },
    'with an unknown key': (nonce) => stage.provider.sign(valid(nonce), { kid: 'unknown' }),
    'signed with the client secret': (nonce) => {
      const signed = parts({ alg: 'HS256' }, nonce);
      return `${signed}.${createHmac('sha256', CLIENT.client_secret).update(signed).digest('base64url')}`;
    },
    'with a key of its own': (nonce) => {
      const jwk = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
      return `${parts({ alg: 'RS256', jwk }, nonce)}.AAAA`;
    },
    'that is empty': () => '',
    'that is no JWT': () => 'a.b',
  };
  for (const [name, forge] of Object.entries(forgeries)) {
    it(`rejects an ID token ${name}`, async () => {
      deepEqual(await logIn(forge), [502, false]);
      equal(stage.backend.requests.length, 0);
    });
  }

  it('treats claims with the names of prototype members as plain data', async () => {
    await stage.serve({ own: { roles: ['admin'], roles_key: '__proto__.roles', roles_key_is_nested: true } });
    const claims = (nonce: string) => ({ ...valid(nonce), ...JSON.parse('{"__proto__":{"roles":["admin"]}}') });
    deepEqual(await logIn((nonce) => stage.provider.sign(claims(nonce))), [200, true]);
    deepEqual(await logIn((nonce) => stage.provider.sign({ ...valid(nonce), polluted: true })), [403, true]);
  });

  it('rejects user info about another user', async () => {
    await stage.serve({ provider: { userinfo: true } });
    stage.provider.intercept = (message, response) => {
      if (message.url !== '/me') return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"eve"}');
      return true;
    };
    const browser = stage.browser();
    deepEqual([(await browser.open('/a')).status, browser.own.size], [502, 0]);
  });

  it('keeps the claims of the ID token that describe the token itself, regardless of the user info', async () => {
    const own = {
      propagate_claims: [
        ['sub', 'X-Sub'],
        ['iss', 'X-Iss'],
        ['aud', 'X-Aud'],
        ['name', 'X-Name'],
      ],
    };
    await stage.serve({ provider: { userinfo: true }, own });
    stage.provider.intercept = (message, response) => {
      if (message.url !== '/me') return false;
      const body = { sub: 'ada', iss: 'https://evil.test', aud: 'another', name: 'Ada' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    equal((await stage.browser().open('/a')).status, 200);
    const { headers } = stage.backend.requests[0]!;
    deepEqual(
      [headers['x-sub'], headers['x-iss'], headers['x-aud'], headers['x-name']],
      ['ada', stage.provider.issuer, CLIENT.client_id, 'Ada'],
    );
  });
});
