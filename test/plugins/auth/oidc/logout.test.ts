import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { until } from '../../../support/conditions.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';
import type { TestBrowser } from './browser.ts';
import { CLIENT } from './provider.ts';
import { base, OidcStage } from './stage.ts';

const cookie = '__Host-oidc.main.0';
const api = { headers: { accept: 'application/json' } };

describe('logouts with auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
    await stage.serve({ provider: { post_logout_path: '/bye' } });
  });
  afterEach(() => stage.close());

  const own = { 'sec-fetch-site': 'same-origin' };
  const loggedIn = async (): Promise<TestBrowser> => {
    const browser = stage.browser();
    equal((await browser.open('/a')).status, 200);
    return browser;
  };

  for (const method of ['GET', 'POST']) {
    it(`end the session at the gateway and at the provider after a ${method} request`, async () => {
      const browser = await loggedIn();
      const { status, headers } = await browser.open('/oidc/main/logout', { method, headers: own, redirects: 0 });
      const url = new URL(headers.get('location')!);
      deepEqual(
        [
          status,
          url.origin + url.pathname,
          url.searchParams.get('post_logout_redirect_uri'),
          url.searchParams.get('client_id'),
        ],
        [303, `${stage.provider.issuer}/session/end`, `${base}/bye`, CLIENT.client_id],
      );
      ok(url.searchParams.get('id_token_hint'));
      equal(stage.count('POST /token/revocation'), 1);
      equal(browser.own.size, 0);
      equal((await browser.open('/a', api)).status, 401);
    });
  }

  for (const [name, method, headers] of [
    ['another site', 'GET', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the domain', 'POST', { 'sec-fetch-site': 'same-site' }],
    ['a form without an origin', 'POST', { 'sec-fetch-site': 'none' }],
    ['another site in an older browser', 'POST', { origin: 'https://evil.test' }],
    ['a page without an origin in an older browser', 'POST', { origin: 'null' }],
    ['another port in an older browser', 'GET', { referer: 'https://app.test:444/' }],
    ['an unknown page', 'GET', {}],
  ] as const) {
    it(`are rejected with 403 if ${name} requests them`, async () => {
      const browser = await loggedIn();
      const response = await browser.open('/oidc/main/logout', { method, headers, redirects: 0 });
      deepEqual([response.status, response.headers.getSetCookie()], [403, []]);
      equal((await browser.open('/a', api)).status, 200);
    });
  }

  const acceptable: Record<string, string>[] = [
    { 'sec-fetch-site': 'none' },
    { referer: `${base}/a` },
    { origin: base },
  ];
  for (const headers of acceptable) {
    it(`are accepted with ${JSON.stringify(headers)}`, async () => {
      const browser = await loggedIn();
      equal((await browser.open('/oidc/main/logout', { headers, redirects: 0 })).status, 303);
      equal(browser.own.size, 0);
    });
  }

  it('end the session at the gateway even if the provider is unreachable', async () => {
    const browser = await loggedIn();
    await stage.serve();
    stage.provider.intercept = (_message, response) => {
      response.destroy();
      return true;
    };
    const { status, headers } = await browser.open('/oidc/main/logout', { headers: own, redirects: 0 });
    deepEqual([status, headers.get('location'), browser.own.size], [303, `${base}/`, 0]);
  });

  it('redirect to post_logout_path if the browser has no session', async () => {
    const { headers } = await stage.browser().open('/oidc/main/logout', { headers: own, redirects: 0 });
    equal(headers.get('location'), `${base}/bye`);
  });
});

(withoutRedis ? describe.skip : describe)(
  `sessions of auth/oidc in Redis${withoutRedis ? `: ${withoutRedis}` : ''}`,
  () => {
    let stage: OidcStage;
    let redis: TestRedis;

    before(async () => {
      redis = await startRedis();
    });
    after(() => redis.close());
    beforeEach(async () => {
      await redis.command('FLUSHALL');
      stage = await OidcStage.open(
        {},
        { backchannel_logout_uri: `${base}/`, backchannel_logout_session_required: true },
      );
      await serve();
    });
    afterEach(() => stage.close());

    const serve = (own = {}, session = {}) =>
      stage.serve({
        own: { propagate_claims: [['sid', 'X-Sid']], ...own },
        session: { connection_name: 'sessions', ...session },
        root: { redis: { connection_pools: [{ name: 'sessions', address: redis.address, command_timeout: '10s' }] } },
      });
    const loggedIn = async (): Promise<TestBrowser> => {
      const browser = stage.browser();
      equal((await browser.open('/a')).status, 200);
      return browser;
    };
    const logOut = async (claims: object, header: object = {}, more: object = {}) => {
      const token = await stage.provider.sign(
        {
          ...{ iss: stage.provider.issuer, aud: CLIENT.client_id, jti: String(Math.random()) },
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        { typ: 'logout+jwt', ...header },
      );
      return send(`logout_token=${token}`, more);
    };
    const send = async (payload: string | Readable, more: object = {}) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...more };
      const url = '/oidc/main/backchannel-logout';
      const request = { method: 'POST', url, payload, headers } as const;
      const { statusCode, headers: received } = await stage.gateway.inject(request);
      equal(received['cache-control'], 'no-store');
      return statusCode;
    };

    it('have a random ID as their cookie, and are encrypted under a hash of it', async () => {
      const browser = await loggedIn();
      const id = browser.own.get(cookie)!.slice(2);
      ok(/^[\w-]{43}$/.test(id));
      const keys = (await redis.command('KEYS', '*')) as string[];
      deepEqual(keys.map((key) => key.split(':')[3]).sort(), ['session', 'sid', 'sub']);
      for (const key of keys) {
        ok(!key.includes(id) && Number(await redis.command('PTTL', key)) > 0);
        const dump = String(await redis.command('DUMP', key).catch(() => ''));
        ok(!dump.includes(id) && !dump.includes('eyJ'));
      }
    });

    it('end without a request for idle_timeout, which each request restarts', async () => {
      await serve({}, { idle_timeout: '10m' });
      const browser = await loggedIn();
      const [key] = (await redis.command('KEYS', '*:session:*')) as [string];
      const left = async () => Number(await redis.command('PTTL', key));
      ok((await left()) > 590_000 && (await left()) <= 600_000);
      await redis.command('PEXPIRE', key, '300000');
      equal((await browser.open('/a', api)).status, 200);
      ok((await left()) > 590_000);
      await redis.command('PEXPIRE', key, '1');
      await until(async () => (await left()) < 0);
      equal((await browser.open('/a', api)).status, 401);
    });

    it('end at once for copies of the cookie when the user logs out', async () => {
      const browser = await loggedIn();
      const copy = stage.browser();
      copy.own.set(cookie, browser.own.get(cookie)!);
      equal((await copy.open('/a', api)).status, 200);
      await browser.open('/oidc/main/logout', { headers: { 'sec-fetch-site': 'same-origin' }, redirects: 0 });
      equal((await copy.open('/a', api)).status, 401);
    });

    it('have a new ID after each login, and the old one ends', async () => {
      const browser = await loggedIn();
      const old = browser.own.get(cookie)!;
      await browser.open('/oidc/main/login?return_to=/a');
      const copy = stage.browser();
      copy.own.set(cookie, old);
      equal((await copy.open('/a', api)).status, 401);
      equal((await browser.open('/a', api)).status, 200);
    });

    it('are refreshed once by two gateways, and not after they have ended', async () => {
      stage.provider.accessSeconds = 5;
      const browser = stage.browser();
      await browser.open('/oidc/main/login?return_to=/none');
      await serve();
      stage.provider.accessSeconds = 3600;
      stage.provider.requests.length = 0;
      const headers = { accept: 'application/json', cookie: `${cookie}=${browser.own.get(cookie)}` };
      const responses = await Promise.all(
        [0, 1, 0, 1, 0, 1].map((at) => stage.gateways[at]!.inject({ url: '/a', headers })),
      );
      deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]));
      deepEqual([stage.count('POST /token'), responses[0]!.headers['set-cookie']], [1, undefined]);
    });

    it('end when the provider logs the user out, by session and by user', async () => {
      const browser = await loggedIn();
      const other = await loggedIn();
      const [sid, ofOther] = stage.backend.requests.map(({ headers }) => headers['x-sid']);
      notEqual(sid, ofOther);
      equal(await logOut({ sub: 'ada', sid: ofOther }), 200);
      deepEqual([(await browser.open('/a', api)).status, (await other.open('/a', api)).status], [200, 401]);
      equal(await logOut({ sub: 'eve' }), 200);
      equal((await browser.open('/a', api)).status, 200);
      equal(await logOut({ sub: 'ada' }), 200);
      deepEqual([(await browser.open('/a', api)).status, (await other.open('/a', api)).status], [401, 401]);
    });

    it('all end when the provider repeats a logout that failed because of Redis', async () => {
      const browsers = [await loggedIn(), await loggedIn()];
      const statuses = async () => Promise.all(browsers.map(async (one) => (await one.open('/a', api)).status));
      const claims = { sub: 'ada', jti: 'repeated' };
      await redis.command('ACL', 'SETUSER', 'default', '-zrem');
      try {
        equal(await logOut(claims), 503);
      } finally {
        await redis.command('ACL', 'SETUSER', 'default', '+zrem');
      }
      deepEqual((await statuses()).sort(), [200, 401]);
      equal(await logOut(claims), 200);
      deepEqual(await statuses(), [401, 401]);
    });

    it('are not ended by invalid logout tokens', async () => {
      const browser = await loggedIn();
      const now = Math.floor(Date.now() / 1000);
      const events = 'http://schemas.openid.net/event/backchannel-logout';
      const cases: [object, object?][] = [
        [{ sub: 'ada', iss: 'https://evil.test' }],
        [{ sub: 'ada', aud: 'another' }],
        [{ sub: 'ada', nonce: 'n' }],
        [{ sub: 'ada', events: {} }],
        [{ sub: 'ada', events: { [events]: true } }],
        [{ sub: 'ada', events: JSON.parse(`{"__proto__":{"${events}":{}}}`) }],
        [{ sub: 'ada', jti: 1 }],
        [{ sub: 'ada', jti: undefined }],
        [{ sub: 'ada', iat: now - 400, exp: now + 60 }],
        [{ sub: 'ada', exp: now - 60 }],
        [{ sub: ['ada'] }],
        [{}],
        [{ sub: 'ada' }, { kid: 'unknown' }],
      ];
      for (const [claims, header] of cases) equal(await logOut(claims, header), 400, JSON.stringify(claims));
      const valid = await stage.provider.sign({ sub: 'ada', iss: stage.provider.issuer, aud: CLIENT.client_id });
      const [head, payload] = valid.split('.');
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
      for (const body of [
        '',
        'logout_token=',
        'logout_token=x',
        `logout_token=${unsigned}`,
        `logout_token=${head}.${payload}.AAAA`,
        `logout_token=${'x'.repeat(40_000)}`,
        'a=1',
      ]) {
        equal(await send(body), 400, body.slice(0, 40));
      }
      equal(await logOut({ sub: 'ada' }, {}, { 'content-type': 'application/json' }), 400);
      let pieces = 0;
      const endless = Readable.from(
        (function* () {
          for (; pieces < 1_000; pieces++) yield Buffer.alloc(16_384, 97);
        })(),
      );
      equal(await send(endless), 400);
      ok(pieces < 20, `${pieces} pieces were read`);
      equal((await browser.open('/a', api)).status, 200);
      const jti = 'once';
      deepEqual([await logOut({ sub: 'eve', jti }), await logOut({ sub: 'ada', jti })], [200, 400]);
      equal((await browser.open('/a', api)).status, 200);
    });

    it('are rejected with 503 while Redis is unreachable, even with on_failure_allow', async () => {
      await serve({ on_failure_allow: true });
      const browser = await loggedIn();
      await redis.stop();
      deepEqual([(await browser.open('/a', api)).status, stage.backend.requests.length], [503, 1]);
      equal(await logOut({ sub: 'ada' }), 503);
      const login = await stage.browser().open('/a');
      equal(login.status, 503);
      await redis.start();
    });
  },
);
