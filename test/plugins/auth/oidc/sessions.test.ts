import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { openSeal } from '../../../../plugins/auth/oidc/sealing.ts';
import { rememberingSinks } from '../../../support/gateway.ts';
import type { TestBrowser } from './browser.ts';
import { CLIENT } from './provider.ts';
import { OidcStage, SECRET } from './stage.ts';

describe('cookie sessions of auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
  });
  afterEach(() => stage.close());

  const api = { headers: { accept: 'application/json' } };
  const loggedIn = async (): Promise<TestBrowser> => {
    const browser = stage.browser();
    equal((await browser.open('/a')).status, 200);
    return browser;
  };

  it('need no state of the gateway: they continue after a restart', async () => {
    await stage.serve();
    const browser = await loggedIn();
    await stage.serve();
    equal((await browser.open('/a', api)).status, 200);
  });

  it('continue while a secret is replaced, and end when the old one is removed', async () => {
    const config = (...secrets: string[]) => stage.config({ session: { secrets } });
    await stage.serve();
    const browser = await loggedIn();
    const fresh = 'n'.repeat(32);
    await stage.gateway.reload(config(fresh, SECRET) as never);
    equal((await browser.open('/a', api)).status, 200);
    const second = await loggedIn();
    await stage.gateway.reload(config(fresh) as never);
    deepEqual([(await browser.open('/a', api)).status, (await second.open('/a', api)).status], [401, 200]);
  });

  it('end after max_age', async () => {
    await stage.serve({ session: { max_age: '1h' } });
    const browser = await loggedIn();
    const seal = openSeal([SECRET]);
    const purpose = `session ${JSON.stringify(['main', stage.provider.issuer, CLIENT.client_id])}`;
    const name = '__Host-oidc.main.0';
    const text = seal.open(purpose, browser.own.get(name)!.slice(2))!;
    const agedBy = (seconds: number) => {
      const stored = JSON.parse(text);
      return `1.${seal.close(purpose, JSON.stringify({ ...stored, s: stored.s - seconds }))}`;
    };
    browser.own.set(name, agedBy(3590));
    equal((await browser.open('/a', api)).status, 200);
    browser.own.set(name, agedBy(3600));
    equal((await browser.open('/a', api)).status, 401);
    match(browser.lines[0]!, /Max-Age=3600;|Max-Age=600;/);
  });

  describe('with an idle timeout', () => {
    const name = '__Host-oidc.main!';
    const { now } = Date;
    let later = 0;

    beforeEach(async () => {
      later = 0;
      Date.now = () => now() + later;
      await stage.serve({ session: { idle_timeout: '20m' } });
    });
    afterEach(() => {
      Date.now = now;
    });

    it('end after that time without a request', async () => {
      const browser = await loggedIn();
      match(
        browser.lines.find((line) => line.startsWith(name))!,
        /^\S+!=\d+\.[\w-]{43}; Path=\/; Max-Age=1200; Secure;/,
      );
      later += 1_190_000;
      equal((await browser.open('/a', api)).status, 200);
      later += 1_190_000;
      equal((await browser.open('/a', api)).status, 200);
      later += 1_201_000;
      equal((await browser.open('/a', api)).status, 401);
    });

    it('record the latest request once for each interval, in a cookie of a response that is not cached', async () => {
      const browser = await loggedIn();
      const cookiesAfter = async (milliseconds: number) => {
        later += milliseconds;
        const { status, headers } = await browser.open('/a', api);
        return [status, headers.getSetCookie().length, headers.get('cache-control')];
      };
      deepEqual(await cookiesAfter(57_000), [200, 0, null]);
      deepEqual(await cookiesAfter(4_000), [200, 1, 'no-store']);
      deepEqual(await cookiesAfter(1_000), [200, 0, null]);
    });

    it('are rejected if the cookie with the time of the latest request is missing, changed, or from another session', async () => {
      const browser = await loggedIn();
      const record = browser.own.get(name)!;
      const statusWith = async (value: string) => {
        browser.own.set(name, value);
        return (await browser.open('/a', api)).status;
      };
      equal(await statusWith(record), 200);
      const other = (await loggedIn()).own.get(name)!;
      const [seconds, code] = record.split('.') as [string, string];
      const [first] = code;
      for (const value of [
        '',
        other,
        `${Number(seconds) + 1}.${code}`,
        `${seconds}.${first === 'A' ? 'B' : 'A'}${code.slice(1)}`,
        `${seconds}.`,
        `${seconds}.${code}${code}`,
      ]) {
        equal(await statusWith(value), 401, value);
      }
    });

    it('continue while a secret is replaced', async () => {
      const browser = await loggedIn();
      const session = { secrets: ['n'.repeat(32), SECRET], idle_timeout: '20m' };
      await stage.gateway.reload(stage.config({ session }) as never);
      equal((await browser.open('/a', api)).status, 200);
    });

    it('leave no cookies behind after a logout', async () => {
      const browser = await loggedIn();
      await browser.open('/oidc/main/logout', { headers: { 'sec-fetch-site': 'same-origin' }, redirects: 0 });
      equal(browser.own.size, 0);
    });
  });

  it('end with an access token that cannot be refreshed', async () => {
    stage.provider.accessSeconds = 5;
    await stage.close();
    stage = await OidcStage.open({ issueRefreshToken: () => false });
    stage.provider.accessSeconds = 5;
    await stage.serve();
    const { status } = await stage.browser().open('/a', { redirects: 5 });
    ok(status === 302 || status === 303, String(status));
    equal(stage.backend.requests.length, 0);
  });

  it('are rejected after any change, and as the cookie of another provider, another client or a login', async () => {
    const other = { name: 'other', issuer: stage.provider.issuer, ...CLIENT };
    const config = stage.config() as { extra_config: { 'auth/oidc': { providers: object[] } }; endpoints: object[] };
    config.extra_config['auth/oidc'].providers.push(other);
    const [first] = config.endpoints as { extra_config: object }[];
    first!.extra_config = { 'auth/oidc': { provider: 'main' } };
    config.endpoints.push({ ...first, endpoint: '/o', extra_config: { 'auth/oidc': { provider: 'other' } } });
    await stage.serve();
    await stage.gateway.reload(config as never);
    const browser = await loggedIn();
    const value = browser.own.get('__Host-oidc.main.0')!;
    equal((await browser.open('/o', api)).status, 401);
    browser.own.set('__Host-oidc.other.0', value);
    equal((await browser.open('/o', api)).status, 401);
    const at = Math.floor(value.length / 2);
    const values = [
      `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`,
      value.slice(0, -2),
      value.slice(0, 40),
      `2${value.slice(1)}`,
      `9${value.slice(1)}`,
      value.slice(2),
      '1.',
      '',
      `1.${'A'.repeat(15_000)}`,
      '__proto__',
    ];
    for (const changed of values) {
      browser.own.set('__Host-oidc.main.0', changed);
      equal((await browser.open('/a', api)).status, 401, changed.slice(0, 50));
    }
    browser.own.set('__Host-oidc.main.0', value);
    equal((await browser.open('/a', api)).status, 200);
    // Expects the prefix, without which another host of the domain could set the cookie.
    browser.own.delete('__Host-oidc.main.0');
    browser.own.set('oidc.main.0', value);
    equal((await browser.open('/a', api)).status, 401);
  });

  it('use several cookies for large tokens, and remove cookies that are no longer needed', async () => {
    await stage.close();
    let size = 5000;
    stage = await OidcStage.open({
      claims: { openid: ['sub', 'big'] },
      conformIdTokenClaims: false,
      findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId, big: 'x'.repeat(size) }) }),
    });
    const sinks = rememberingSinks();
    await stage.serve({ options: { sinks } });
    const browser = await loggedIn();
    const parts = [...browser.own.keys()];
    deepEqual(parts, ['__Host-oidc.main.0', '__Host-oidc.main.1', '__Host-oidc.main.2']);
    for (const line of browser.lines) ok(line.length <= 4096);
    equal((await browser.open('/a', api)).status, 200);
    equal(stage.backend.requests.at(-1)!.headers.cookie, undefined);
    size = 10;
    equal((await browser.open('/oidc/main/login?return_to=/a')).status, 200);
    deepEqual([...browser.own.keys()], ['__Host-oidc.main.0']);
    size = 9000;
    const { status, text } = await stage.browser().open('/a');
    deepEqual([status, text], [500, 'The session is too large.\n']);
    ok(sinks.lines.some((line) => line.includes('store sessions in Redis, with connection_name')));
  });
});
