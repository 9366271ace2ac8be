import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import type { TestBrowser } from './browser.ts';
import { OidcStage } from './stage.ts';

describe('refreshes of sessions with auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
    // Each request refreshes the token, because its lifetime is shorter than the time before expiry at which it is
    // refreshed.
    stage.provider.accessSeconds = 5;
  });
  afterEach(() => stage.close());

  const cookie = '__Host-oidc.main.0';
  const api = { headers: { accept: 'application/json' } };
  const refreshes = () => stage.count('POST /token');
  /** A browser whose access token has expired. */
  const expired = async (): Promise<TestBrowser> => {
    stage.provider.accessSeconds = 5;
    const browser = stage.browser();
    await browser.open('/oidc/main/login?return_to=/none');
    ok(browser.own.has(cookie));
    stage.provider.accessSeconds = 3600;
    stage.provider.requests.length = 0;
    return browser;
  };
  const answer = (status: number, body: object | string = {}) => {
    stage.provider.intercept = (message, response) => {
      if (message.url !== '/token') return false;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
      return true;
    };
  };

  it('send one request to the provider for concurrent requests of a session, all of which get the new session', async () => {
    await stage.serve({ own: { pass_access_token: true } });
    const browser = await expired();
    const old = browser.own.get(cookie)!;
    const headers = { accept: 'application/json', cookie: `${cookie}=${old}` };
    const responses = await Promise.all(Array.from({ length: 20 }, () => stage.gateway.inject({ url: '/a', headers })));
    deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]));
    equal(refreshes(), 1);
    const lines = new Set(responses.map((response) => String(response.headers['set-cookie'])));
    equal(lines.size, 1);
    equal(responses[0]!.headers['cache-control'], 'no-store');
    const tokens = new Set(stage.backend.requests.map((request) => request.headers.authorization));
    equal(tokens.size, 1);
    // A later request with the older cookie gets the same result, instead of using the refresh token twice.
    equal((await browser.open('/a', api)).status, 200);
    notEqual(browser.own.get(cookie), old);
    equal((await browser.open('/a', api)).status, 200);
    equal(refreshes(), 1);
  });

  it('are repeated for each access token if the provider does not replace the refresh token', async () => {
    await stage.close();
    stage = await OidcStage.open({ rotateRefreshToken: false });
    await stage.serve();
    const browser = await expired();
    stage.provider.accessSeconds = 5;
    await until(async () => {
      equal((await browser.open('/a', api)).status, 200);
      return refreshes() === 2;
    });
  });

  it('continue if the client disconnects', async () => {
    await stage.serve();
    const browser = await expired();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let hasArrived = false;
    stage.provider.intercept = (message, response) => {
      if (message.url !== '/token' || hasArrived) return false;
      hasArrived = true;
      void held.then(() => stage.provider.handle(message, response));
      return true;
    };
    const { port } = await stage.gateway.listen();
    const gone = new AbortController();
    const headers = { cookie: `${cookie}=${browser.own.get(cookie)}` };
    const request = fetch(`http://127.0.0.1:${port}/a`, { headers, signal: gone.signal }).catch((error) => error.name);
    await until(() => hasArrived);
    gone.abort();
    equal(await request, 'AbortError');
    release();
    equal((await browser.open('/a', api)).status, 200);
    equal(refreshes(), 1);
  });

  it('end the session if the provider rejects the refresh token', async () => {
    await stage.serve({ own: { on_failure_allow: true } });
    const browser = await expired();
    answer(400, { error: 'invalid_grant' });
    equal((await browser.open('/a', api)).status, 401);
    equal((await browser.open('/a', { redirects: 0 })).status, 302);
    equal(stage.backend.requests.length, 0);
  });

  it('are rejected with 503 while the provider is unreachable, or accepted with on_failure_allow', async () => {
    await stage.serve();
    const strict = await expired();
    await stage.serve({ own: { on_failure_allow: true } });
    const outages = [
      () => answer(503),
      () => {
        stage.provider.intercept = (_message, response) => {
          response.destroy();
          return true;
        };
      },
    ];
    for (const begin of outages) {
      begin();
      const [first, second] = stage.gateways;
      deepEqual(
        [(await strict.at(first!).open('/a', api)).status, (await strict.at(second!).open('/a', api)).status],
        [503, 200],
      );
    }
    stage.provider.intercept = () => false;
    equal((await strict.open('/a', api)).status, 200);
  });

  const subject = (sub: string) => `.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.`;
  for (const [name, status, body] of [
    ['an error that is not about the token', 400, { error: 'invalid_client' }],
    ['no JSON', 200, '<html>'],
    ['no access token', 200, { token_type: 'bearer' }],
    ['an access token that is not a text', 200, { access_token: 1, token_type: 'bearer' }],
    ['another type of token', 200, { access_token: 'a', token_type: 'mac' }],
    [
      'an ID token without a valid signature',
      200,
      { access_token: 'a', token_type: 'bearer', id_token: `e30${subject('eve')}` },
    ],
    ['a redirect', 302, {}],
    ['the unexpected status 418', 418, {}],
  ] as const) {
    it(`are rejected with 503, even with on_failure_allow, if the response has ${name}`, async () => {
      await stage.serve({ own: { on_failure_allow: true } });
      const browser = await expired();
      answer(status, body);
      equal((await browser.open('/a', api)).status, 503);
      equal(stage.backend.requests.length, 0);
    });
  }

  it('end the session if the new ID token is of another user', async () => {
    await stage.serve();
    const browser = await expired();
    answer(200, {
      access_token: 'a',
      token_type: 'bearer',
      id_token: await stage.provider.sign({ sub: 'eve', aud: 'gateway', iss: stage.provider.issuer }),
    });
    equal((await browser.open('/a', api)).status, 401);
    equal(stage.backend.requests.length, 0);
  });
});
