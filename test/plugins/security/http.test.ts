import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import Koa from 'koa';
import { inject } from 'light-my-request';
import { ConfigErrors, type EndpointConfig, HeaderBag, type Log, Reply, silentLog } from '#contract';
import { stand } from '../../../kernel/testing/stand.ts';
import { plugin } from '../../../plugins/security/http/index.ts';

const levels = ['service', 'endpoint'] as const;

const to = (host: string, target = '/p?q=1', headers: Record<string, string> = {}, method = 'GET') => ({
  method,
  target,
  headers: { Host: host, ...headers },
});

const bodyOf = (reply: Reply) => (reply.body === null ? '' : Buffer.from(reply.body as Uint8Array).toString());

/** Sends one request through the service-level middleware over a connection that is encrypted or not. */
async function serve(
  config: object,
  { secure = false, matched = null as object | null, method = 'GET' as 'GET' | 'POST' } = {},
) {
  const service = matched ? { service: { endpoints: [matched as EndpointConfig] } } : {};
  const gate = await stand(plugin, 'service', config, service);
  const app = new Koa();
  app.use((ctx, next) => {
    Object.defineProperty(ctx.req.socket, 'encrypted', { value: secure });
    ctx.state.match = () => matched;
    return next();
  });
  if (gate.attached.router) app.use(gate.attached.router);
  app.use((ctx) => {
    ctx.status = 404;
    ctx.body = 'inner';
  });
  return inject(app.callback(), { method, url: '/p?q=1', headers: { host: 'h' } });
}

for (const level of levels) {
  describe(`security/http at ${level} level`, () => {
    const attach = (config: object, next?: () => Reply) => stand(plugin, level, config, next ? { next } : {});

    it('compares the host with its port, in any letter case', async () => {
      const gate = await attach({ allowed_hosts: ['api.x.io:8080'] });
      equal((await gate.send(to('API.x.io:8080'))).status, 200);
      equal((await gate.send(to('api.x.io'))).status, 500);
    });

    it('answers a host that is not allowed with Bad Host and none of the headers asked for', async () => {
      const gate = await attach({ allowed_hosts: ['x'], frame_deny: true, referrer_policy: 'origin' });
      const reply = await gate.send(to('y'));
      equal(reply.status, 500);
      equal(bodyOf(reply), 'Bad Host\n');
      equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8');
      equal(reply.headers.get('x-content-type-options'), 'nosniff');
      equal(reply.headers.has('x-frame-options'), false);
      equal(reply.headers.has('referrer-policy'), false);
    });

    it('matches expressions with the whole host, letter case included', async () => {
      const gate = await attach({ allowed_hosts: ['(a|b)\\.x\\.io', 'c|d'], allowed_hosts_are_regex: true });
      for (const [host, status] of [
        ['a.x.io', 200],
        ['b.x.io', 200],
        ['za.x.io', 500],
        ['a.x.io.evil', 500],
        ['A.x.io', 500],
        ['d', 200],
        ['cd', 500],
      ] as const) {
        equal((await gate.send(to(host))).status, status, host);
      }
    });

    it('understands flags at the start of an expression', async () => {
      const gate = await attach({ allowed_hosts: ['(?i)api\\.x\\.io'], allowed_hosts_are_regex: true });
      equal((await gate.send(to('API.x.io'))).status, 200);
    });

    it('takes the real host from the first header that is not empty', async () => {
      const gate = await attach({ allowed_hosts: ['real'], host_proxy_headers: ['X-A', 'X-B'] });
      equal((await gate.send(to('other', '/', { 'X-B': 'real, proxy' }))).status, 200);
      equal((await gate.send(to('real', '/', { 'X-A': 'other' }))).status, 500);
      equal((await gate.send(to('real', '/', { 'X-A': '' }))).status, 200);
    });

    it('redirects plain HTTP to the configured host, with path and query', async () => {
      const gate = await attach({ ssl_redirect: true, ssl_host: 's.x.io', frame_deny: true });
      const reply = await gate.send(to('h'));
      equal(reply.status, 301);
      equal(reply.headers.get('location'), 'https://s.x.io/p?q=1');
      equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
      equal(bodyOf(reply), '<a href="https://s.x.io/p?q=1">Moved Permanently</a>.\n');
      equal(reply.headers.has('x-frame-options'), false);
    });

    it("redirects to the request's host when none is configured", async () => {
      const gate = await attach({ ssl_redirect: true, host_proxy_headers: ['X-Forwarded-Host'] });
      equal((await gate.send(to('h:8080'))).headers.get('location'), 'https://h:8080/p?q=1');
      const forwarded = await gate.send(to('h', '/', { 'X-Forwarded-Host': 'real' }));
      equal(forwarded.headers.get('location'), 'https://real/');
    });

    it('redirects other methods without a body', async () => {
      const gate = await attach({ ssl_redirect: true });
      const reply = await gate.send(to('h', '/p', {}, 'POST'));
      equal(reply.status, 301);
      equal(reply.headers.get('location'), 'https://h/p');
      equal(bodyOf(reply), '');
      equal(reply.headers.has('content-type'), false);
    });

    it('writes no markup from the address into the body of a redirect', async () => {
      const gate = await attach({ ssl_redirect: true });
      const reply = await gate.send(to('h', "/?a=1&b='<x>"));
      equal(/[<>'](?!a |\/a)/.test(bodyOf(reply).replace('">Moved', '')), false);
      match(bodyOf(reply), /href="https:\/\/h\/\?a=1&#38;b=/);
    });

    it('believes the header that proves HTTPS, with exactly this value', async () => {
      const gate = await attach({ ssl_redirect: true, ssl_proxy_headers: { 'X-Forwarded-Proto': 'https' } });
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'https' }))).status, 200);
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'HTTPS' }))).status, 301);
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'https, http' }))).status, 301);
    });

    it('sends Strict-Transport-Security over HTTPS only', async () => {
      const proof = { 'X-Forwarded-Proto': 'https' };
      const gate = await attach({ sts_seconds: 300, sts_include_subdomains: true, ssl_proxy_headers: proof });
      equal((await gate.send(to('h'))).headers.has('strict-transport-security'), false);
      const reply = await gate.send(to('h', '/', proof));
      equal(reply.headers.get('strict-transport-security'), 'max-age=300; includeSubDomains');
    });

    it('sends Strict-Transport-Security on plain HTTP when forced', async () => {
      const gate = await attach({ sts_seconds: 300, force_sts_header: true });
      equal((await gate.send(to('h'))).headers.get('strict-transport-security'), 'max-age=300');
    });

    it('lets the custom frame option win', async () => {
      const gate = await attach({ frame_deny: true, custom_frame_options_value: 'SAMEORIGIN' });
      deepEqual((await gate.send(to('h'))).headers.getAll('x-frame-options'), ['SAMEORIGIN']);
      const custom = await attach({ custom_frame_options_value: 'SAMEORIGIN' });
      equal((await custom.send(to('h'))).headers.get('x-frame-options'), 'SAMEORIGIN');
    });

    it('sends every header it is asked for', async () => {
      const gate = await attach({
        frame_deny: true,
        content_type_nosniff: true,
        browser_xss_filter: true,
        content_security_policy: "default-src 'self'",
        referrer_policy: 'same-origin',
      });
      const { headers } = await gate.send(to('h'));
      equal(headers.get('x-frame-options'), 'DENY');
      equal(headers.get('x-content-type-options'), 'nosniff');
      equal(headers.get('x-xss-protection'), '1; mode=block');
      equal(headers.get('content-security-policy'), "default-src 'self'");
      equal(headers.get('referrer-policy'), 'same-origin');
    });

    it('puts a new nonce into the policy of each response', async () => {
      const gate = await attach({ content_security_policy: 'script-src $NONCE; style-src $NONCE' });
      const [one, two] = [await gate.send(to('h')), await gate.send(to('h'))].map(
        ({ headers }) => headers.get('content-security-policy')!,
      );
      match(one!, /^script-src ('nonce-[A-Za-z0-9+/]{22}'); style-src \1$/);
      notEqual(one, two);
    });

    it('is not there when nothing is asked for', async () => {
      deepEqual((await attach({})).attached, {});
    });

    it('ignores hosts, redirect and Strict-Transport-Security in development', async () => {
      const gate = await attach({
        is_development: true,
        allowed_hosts: ['x'],
        ssl_redirect: true,
        sts_seconds: 300,
        force_sts_header: true,
        frame_deny: true,
        content_type_nosniff: true,
      });
      const { status, headers } = await gate.send(to('anything'));
      equal(status, 200);
      equal(headers.get('x-frame-options'), 'DENY');
      equal(headers.get('x-content-type-options'), 'nosniff');
      equal(headers.has('strict-transport-security'), false);
      deepEqual(gate.warnings, []);
    });

    it('logs refused hosts at most once a second', async () => {
      const lines: string[] = [];
      const log: Log = {
        ...silentLog,
        at: () => log,
        warning: (line) => lines.push(typeof line === 'function' ? line() : line),
      };
      const clock = { time: 0, now: () => clock.time };
      const gate = await stand(plugin, level, { allowed_hosts: ['x'] }, { services: { clock, log } });
      for (const host of ['a', 'b', 'c']) await gate.send(to(host));
      clock.time = 1000;
      await gate.send(to('d'));
      deepEqual(lines, ['[HTTPsecure] Bad Host: "a"', '[HTTPsecure] Bad Host: "d"']);
    });

    it('warns of a redirect that no request can end', async () => {
      const gate = await attach({ ssl_redirect: true });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['SECURITY_REDIRECT_LOOP'],
      );
      deepEqual((await attach({ ssl_redirect: true, ssl_proxy_headers: { A: 'b' } })).warnings, []);
      const tls = { tls: {} } as object;
      deepEqual((await stand(plugin, level, { ssl_redirect: true }, { service: tls })).warnings, []);
    });

    it('warns of the obsolete key pinning', async () => {
      const gate = await attach({ hpkp_public_key: 'x' });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['SECURITY_HPKP'],
      );
    });

    for (const [what, config, code] of [
      [
        'an expression that cannot be read',
        { allowed_hosts: ['('], allowed_hosts_are_regex: true },
        'SECURITY_HOST_PATTERN',
      ],
      [
        'an expression with a stray bracket',
        { allowed_hosts: ['a)|(b'], allowed_hosts_are_regex: true },
        'SECURITY_HOST_PATTERN',
      ],
      [
        'an expression that would mean something else',
        { allowed_hosts: ['[[:alpha:]]+'], allowed_hosts_are_regex: true },
        'SECURITY_HOST_PATTERN',
      ],
      ['a name that is no header name', { host_proxy_headers: ['X Host'] }, 'SECURITY_HEADER_NAME'],
      ['a value that no header may hold', { referrer_policy: 'a\nb' }, 'SECURITY_HEADER_VALUE'],
    ] as const) {
      it(`refuses ${what}`, async () => {
        await rejects(attach(config), (error) => error instanceof ConfigErrors && error.errors[0]?.code === code);
      });
    }

    it('refuses fields of a wrong type and unknown fields', async () => {
      await rejects(attach({ frame_deny: 'yes' }), { code: 'CONFIG_INVALID' });
      await rejects(attach({ frames_deny: true }), { code: 'CONFIG_INVALID' });
    });

    it('gives back everything it keeps', async () => {
      deepEqual(await (await attach({ frame_deny: true })).close(), { kept: 0, deferred: 0 });
    });
  });
}

describe('security/http for the whole service', () => {
  it('puts its headers on unknown paths too', async () => {
    const response = await serve({ content_type_nosniff: true });
    equal(response.statusCode, 404);
    equal(response.headers['x-content-type-options'], 'nosniff');
  });

  it('knows HTTPS from the connection', async () => {
    const config = { ssl_redirect: true, sts_seconds: 300 };
    const response = await serve(config, { secure: true });
    equal(response.statusCode, 404);
    equal(response.headers['strict-transport-security'], 'max-age=300');
    equal((await serve(config)).statusCode, 301);
  });

  it('answers a redirected POST with an empty body', async () => {
    const response = await serve({ ssl_redirect: true }, { method: 'POST' });
    equal(response.statusCode, 301);
    equal(response.body, '');
  });

  it('stands aside for an endpoint with an object of its own, also an empty one', async () => {
    const matched = { extra_config: { 'security/http': {} } };
    const response = await serve({ allowed_hosts: ['x'], frame_deny: true }, { matched });
    equal(response.statusCode, 404);
    equal(response.headers['x-frame-options'], undefined);
  });

  it('covers endpoints without an object of their own', async () => {
    const matched = { extra_config: { 'security/cors': {} } };
    equal((await serve({ allowed_hosts: ['x'] }, { matched })).statusCode, 500);
  });
});

describe('security/http for one endpoint', () => {
  it("replaces the backend's header of the same name", async () => {
    const next = () => Reply.raw(200, new HeaderBag(['x-frame-options', 'ALLOWALL', 'X-Other', '1']), null);
    const gate = await stand(plugin, 'endpoint', { frame_deny: true }, { next });
    const { headers } = await gate.send(to('h'));
    deepEqual(headers.getAll('x-frame-options'), ['DENY']);
    equal(headers.get('x-other'), '1');
  });

  it('puts its headers on failures', async () => {
    const next = async () => new Reply(401);
    const gate = await stand(plugin, 'endpoint', { frame_deny: true }, { next });
    equal((await gate.send(to('h'))).headers.get('x-frame-options'), 'DENY');
  });
});
