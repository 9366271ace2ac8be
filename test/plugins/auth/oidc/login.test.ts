import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { openSeal } from '../../../../plugins/auth/oidc/sealing.ts';
import { CLIENT } from './provider.ts';
import { base, OidcStage, SECRET } from './stage.ts';

describe('logins with auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
  });
  afterEach(() => stage.close());

  const session = '__Host-oidc.main.0';

  it('open the requested page, and pass the claims and the access token to backends, but no cookie of the gateway', async () => {
    const own = {
      propagate_claims: [
        ['sub', 'X-User'],
        ['name', 'X-Name'],
      ],
      pass_access_token: true,
    };
    await stage.serve({ own, provider: { scopes: ['profile'], userinfo: true } });
    const browser = stage.browser();
    browser.own.set('theme', 'dark');
    const page = await browser.open('/a?x=1%20', { headers: { 'x-user': 'root', authorization: 'Basic cm9vdA==' } });
    deepEqual([page.status, page.url, page.text], [200, `${base}/a?x=1%20`, '{"ok":true}']);
    const { headers, target } = stage.backend.requests[0]!;
    deepEqual([target, headers['x-user'], headers['x-name'], headers.cookie], ['/b?x=1+', 'ada', 'ADA', 'theme=dark']);
    match(headers.authorization!, /^Bearer [\w-]{20,}$/);
    for (const line of browser.lines) {
      match(line, /^__Host-oidc\.main[.~][\w-]+=[^;]*; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
    }
    deepEqual([...browser.own.keys()], ['theme', session]);
  });

  it('do not reveal their cookies to backends of endpoints that require no login', async () => {
    const backend = [{ host: [stage.backend.url], url_pattern: '/b' }];
    const endpoints = [
      { endpoint: '/all', input_headers: ['*'], backend },
      { endpoint: '/cookies', input_headers: ['cookie'], backend },
    ];
    await stage.serve({ endpoints });
    const browser = stage.browser();
    await browser.open('/a');
    browser.own.set('theme', 'dark');
    for (const path of ['/all', '/cookies']) equal((await browser.open(path)).status, 200);
    deepEqual(
      stage.backend.requests.map(({ headers }) => headers.cookie),
      [undefined, 'theme=dark', 'theme=dark'],
    );
  });

  it('use PKCE, state and nonce, with new values for each login', async () => {
    await stage.serve({ provider: { authorization_params: { prompt: 'login', state: 'fixed' }, scopes: ['profile'] } });
    const urls = [];
    for (let at = 0; at < 2; at++) {
      const { headers } = await stage.browser().open('/a', { redirects: 0 });
      urls.push(new URL(headers.get('location')!));
      equal(headers.get('cache-control'), 'no-store');
    }
    const [first, second] = urls.map(({ searchParams }) => Object.fromEntries(searchParams));
    for (const name of ['state', 'nonce', 'code_challenge']) {
      match(first![name]!, /^[\w-]{43}$/);
      equal(first![name] === second![name], false);
    }
    deepEqual(
      [
        first!['code_challenge_method'],
        first!['scope'],
        first!['prompt'],
        first!['redirect_uri'],
        first!['response_type'],
      ],
      ['S256', 'openid profile', 'login', `${base}/oidc/main/callback`, 'code'],
    );
  });

  const clients: Record<string, { method?: string; headers?: Record<string, string> }> = {
    'a client that accepts no HTML': { headers: { accept: 'application/json' } },
    'an XMLHttpRequest': { headers: { 'x-requested-with': 'XMLHttpRequest' } },
    'a fetch of a script': { headers: { 'sec-fetch-mode': 'cors' } },
    'a form': { method: 'POST' },
  };
  for (const [client, options] of Object.entries(clients)) {
    it(`reject ${client} with 401 instead of a redirect`, async () => {
      await stage.serve(options.method ? { endpoint: options } : {});
      const { status, headers } = await stage.browser().open('/a', options);
      deepEqual(
        [status, headers.get('www-authenticate'), headers.get('location'), headers.getSetCookie()],
        [401, `OIDC login_uri="${base}/oidc/main/login"`, null, []],
      );
      deepEqual(stage.provider.requests, []);
    });
  }

  it('complete in two tabs at the same time', async () => {
    await stage.serve();
    const browser = stage.browser();
    const tabs = [await browser.open('/a?tab=1', { redirects: 0 }), await browser.open('/a?tab=2', { redirects: 0 })];
    for (const [at, { headers }] of tabs.entries()) {
      const page = await browser.open(headers.get('location')!);
      deepEqual([page.status, page.url], [200, `${base}/a?tab=${at + 1}`]);
    }
  });

  it('are kept for the five latest attempts of a browser', async () => {
    await stage.serve();
    const browser = stage.browser();
    const pending = [];
    for (let at = 0; at < 8; at++) pending.push(await browser.open('/a', { redirects: 0 }));
    equal(browser.own.size, 5);
    const [oldest, latest] = [pending[0]!, pending[7]!].map(({ headers }) => headers.get('location')!);
    equal((await browser.open(oldest!)).status, 400);
    equal((await browser.open(latest!)).status, 200);
  });

  it('reject a repeated callback, and do not change the session', async () => {
    await stage.serve();
    const browser = stage.browser();
    const toProvider = await browser.open('/a', { redirects: 0 });
    let last = toProvider;
    while (!last.url.includes('/callback?')) {
      last = await browser.open(new URL(last.headers.get('location')!, last.url).href, { redirects: 0 });
    }
    equal(last.status, 303);
    const before = new Map(browser.own);
    const again = await browser.open(last.url, { redirects: 0 });
    deepEqual([again.status, again.headers.getSetCookie()], [400, []]);
    deepEqual(browser.own, before);
    equal(stage.count('POST /token'), 1);
    // A callback in another browser is rejected, too.
    equal((await stage.browser().open(last.url, { redirects: 0 })).status, 400);
  });

  it('reject the callback of a login that has expired, was changed, or belongs to another provider', async () => {
    await stage.serve();
    const seal = openSeal([SECRET]);
    const login = { state: 'x'.repeat(43), nonce: 'n', verifier: 'v'.repeat(43), page: '/a', startedAt: Date.now() };
    const identity = ['main', stage.provider.issuer, CLIENT.client_id];
    const valid = seal.close(`login ${JSON.stringify(identity)}`, JSON.stringify(login));
    const cases = {
      valid,
      expired: seal.close(
        `login ${JSON.stringify(identity)}`,
        JSON.stringify({ ...login, startedAt: Date.now() - 601_000 }),
      ),
      otherProvider: seal.close(`login ${JSON.stringify(['other', ...identity.slice(1)])}`, JSON.stringify(login)),
      session: seal.close(`session ${JSON.stringify(identity)}`, JSON.stringify(login)),
      otherSecret: openSeal(['t'.repeat(32)]).close(`login ${JSON.stringify(identity)}`, JSON.stringify(login)),
      changed: `${valid.slice(0, 60)}${valid[60] === 'A' ? 'B' : 'A'}${valid.slice(61)}`,
      cut: valid.slice(0, 20),
      empty: '',
    };
    const statuses: Record<string, number> = {};
    for (const [name, value] of Object.entries(cases)) {
      const browser = stage.browser();
      browser.own.set(`__Host-oidc.main~${login.state.slice(0, 10)}`, value);
      const url = `/oidc/main/callback?state=${login.state}&code=made-up&iss=${encodeURIComponent(stage.provider.issuer)}`;
      statuses[name] = (await browser.open(url, { redirects: 0 })).status;
    }
    const { valid: accepted, ...others } = statuses;
    // The valid callback leads to 502, because the provider rejects the authorization code.
    equal(accepted, 502);
    deepEqual(new Set(Object.values(others)), new Set([400]));
    equal(stage.count('POST /token'), 1);
  });

  it('reject a callback whose parameters do not belong to the login', async () => {
    await stage.serve();
    for (const change of [
      (url: URL) => url.searchParams.set('state', `${url.searchParams.get('state')!.slice(0, 42)}-`),
      (url: URL) => url.searchParams.append('state', 'second'),
      (url: URL) => url.searchParams.set('iss', 'https://evil.test'),
      (url: URL) => url.searchParams.delete('iss'),
      (url: URL) => url.searchParams.append('code', 'second'),
      (url: URL) => url.searchParams.delete('code'),
    ]) {
      const browser = stage.browser();
      let last = await browser.open('/a', { redirects: 0 });
      for (;;) {
        const url = new URL(last.headers.get('location')!, last.url);
        if (url.pathname === '/oidc/main/callback') {
          change(url);
          last = await browser.open(url.href, { redirects: 0 });
          break;
        }
        last = await browser.open(url.href, { redirects: 0 });
      }
      ok(last.status === 502 || last.status === 400, `${change}: ${last.status}`);
      equal(browser.own.has(session), false);
    }
    equal(stage.count('POST /token'), 0);
  });

  it('redirect only to pages of the gateway', async () => {
    await stage.serve();
    for (const [target, page] of Object.entries({
      'https://evil.test/': '/',
      '//evil.test/x': '//evil.test/x',
      '/\\evil.test': '/\\evil.test',
      'javascript:alert(1)': '/',
      '/a\r\nSet-Cookie: x=1': '/',
      '@evil.test': '/',
      '.evil.test': '/',
      [`/${'x'.repeat(1600)}`]: '/',
      '/a?x=1&y=2': '/a?x=1&y=2',
    })) {
      const browser = stage.browser();
      let last = await browser.open(`/oidc/main/login?return_to=${encodeURIComponent(target)}`, { redirects: 0 });
      while (!last.url.startsWith(`${base}/oidc/main/callback`)) {
        last = await browser.open(new URL(last.headers.get('location')!, last.url).href, { redirects: 0 });
      }
      const location = last.headers.get('location')!;
      deepEqual([last.status, location, new URL(location).origin], [303, `${base}${page}`, base]);
    }
  });

  it("are rejected with 403 if the provider denies them; the response does not contain the provider's text", async () => {
    await stage.serve();
    stage.provider.denial = 'access_denied';
    const browser = stage.browser();
    const { status, text } = await browser.open('/a');
    deepEqual([status, text, browser.own.size], [403, 'The login was denied.\n', 0]);
  });

  it('are rejected with 403 for users without the required role', async () => {
    await stage.serve({ own: { roles: ['role-of-eve'] }, provider: { scopes: ['profile'], userinfo: true } });
    equal((await stage.browser().open('/a')).status, 403);
    stage.provider.user = 'eve';
    equal((await stage.browser().open('/a')).status, 200);
    equal(stage.backend.requests.length, 1);
  });

  it('provide the claims to policies, CEL conditions and paths', async () => {
    const extra = {
      'security/policies': { jwt: { policies: ["JWT.sub != 'eve'"] } },
      'validation/cel': [{ check_expr: "JWT.sub == 'ada'" }],
    };
    await stage.serve({ extra });
    equal((await stage.browser().open('/a')).status, 200);
    stage.provider.user = 'eve';
    equal((await stage.browser().open('/a')).status, 403);
    stage.provider.user = 'bob';
    ok((await stage.browser().open('/a')).status >= 400);
    equal(stage.backend.requests.length, 1);
  });

  it('open an intermediate page with SameSite=Strict, which opens the requested page', async () => {
    await stage.serve({ session: { same_site: 'Strict' } });
    const browser = stage.browser();
    const { status, text, headers } = await browser.open(`/a?x='"<b>&y`);
    deepEqual([status, headers.get('content-security-policy')], [200, "default-src 'none'"]);
    match(text, /content="0;url=https:\/\/app\.test\/a\?x=(?:&#39;|%27)[^<>]*&amp;y"/);
    ok(browser.lines.some((line) => line.startsWith(session) && line.endsWith('SameSite=Strict')));
    equal((await browser.open('/a')).text, '{"ok":true}');
  });
});
