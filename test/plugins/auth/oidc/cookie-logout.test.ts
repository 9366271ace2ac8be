import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { Logouts } from '../../../../plugins/auth/oidc/ended.ts';
import type { TestBrowser } from './browser.ts';
import { CLIENT } from './provider.ts';
import { base, OidcStage } from './stage.ts';

const api = { headers: { accept: 'application/json' } };

describe('logouts of cookie sessions with auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open({}, { backchannel_logout_uri: `${base}/`, backchannel_logout_session_required: true });
    await stage.serve({ own: { propagate_claims: [['sid', 'X-Sid']] } });
  });
  afterEach(() => stage.close());

  const loggedIn = async (): Promise<TestBrowser> => {
    const browser = stage.browser();
    equal((await browser.open('/a')).status, 200);
    return browser;
  };
  const copyOf = (browser: TestBrowser): TestBrowser => {
    const copy = stage.browser();
    for (const [name, value] of browser.own) copy.own.set(name, value);
    return copy;
  };
  const statusOf = async (browser: TestBrowser) => (await browser.open('/a', api)).status;
  const leave = (browser: TestBrowser) =>
    browser.open('/oidc/main/logout', { headers: { 'sec-fetch-site': 'same-origin' }, redirects: 0 });
  /** Sends a logout token of the provider. */
  const logOut = async (claims: object) => {
    const token = await stage.provider.sign(
      {
        ...{ iss: stage.provider.issuer, aud: CLIENT.client_id, jti: String(Math.random()) },
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      },
      { typ: 'logout+jwt' },
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const url = '/oidc/main/backchannel-logout';
    return (await stage.gateway.inject({ method: 'POST', url, payload: `logout_token=${token}`, headers })).statusCode;
  };

  it('end copies of the cookie at once, keep other sessions of the user, and allow a new login', async () => {
    const [browser, other] = [await loggedIn(), await loggedIn()];
    const copy = copyOf(browser);
    equal(await statusOf(copy), 200);
    await leave(browser);
    deepEqual([await statusOf(copy), await statusOf(other)], [401, 200]);
    equal((await browser.open('/a')).status, 200);
    deepEqual([await statusOf(browser), await statusOf(copy)], [200, 401]);
  });

  it('still end copies of the cookie after a reload', async () => {
    const browser = await loggedIn();
    const copy = copyOf(browser);
    await leave(browser);
    await stage.gateway.reload(stage.config({ own: { scopes: [] } }));
    equal(await statusOf(copy), 401);
  });

  it('end the session that the browser had before a new login', async () => {
    const browser = await loggedIn();
    const planted = copyOf(browser);
    await browser.open('/oidc/main/login?return_to=/a');
    deepEqual([await statusOf(browser), await statusOf(planted)], [200, 401]);
  });

  it('can be requested by the provider, for a session or for a user', async () => {
    const [browser, other] = [await loggedIn(), await loggedIn()];
    const [sid, ofOther] = stage.backend.requests.map(({ headers }) => headers['x-sid']);
    notEqual(sid, ofOther);
    equal(await logOut({ sub: 'ada', sid: ofOther }), 200);
    deepEqual([await statusOf(browser), await statusOf(other)], [200, 401]);
    equal(await logOut({ sub: 'eve' }), 200);
    equal(await statusOf(browser), 200);
    equal(await logOut({ sub: 'ada' }), 200);
    equal(await statusOf(browser), 401);
    equal((await browser.open('/a')).status, 200);
    equal(await statusOf(browser), 200);
  });

  it('accept each logout token once', async () => {
    const claims = { sub: 'eve', jti: 'once' };
    deepEqual([await logOut(claims), await logOut({ ...claims, sub: 'ada' })], [200, 400]);
  });
});

describe('logouts in memory with auth/oidc', () => {
  it('are limited to ten thousand; beyond that the earliest is forgotten', () => {
    const logouts = new Logouts();
    for (let at = 0; at <= 10_000; at++) logouts.add(`sub ${at}`, at, 60_000);
    deepEqual([logouts.times.size, logouts.times.has('sub 0'), logouts.times.has('sub 1')], [10_000, false, true]);
  });

  it('are forgotten once the sessions would have expired anyway', () => {
    const logouts = new Logouts();
    logouts.add('sub a', 1000, 60_000);
    logouts.add('sub b', 2000, 60_000);
    logouts.add('sub a', 3000, 60_000);
    logouts.add('sub c', 62_500, 60_000);
    deepEqual([...logouts.times.keys()], ['sub a', 'sub c']);
  });
});
