import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import type { Log } from '#contract';
import { ConfigErrors, silentLog } from '../../../../kernel/contract/internal.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/http/index.ts';
import { levels, to } from './fixture.ts';

for (const level of levels) {
  describe(`security/http at the ${level} level`, () => {
    const attach = (config: object) => openHarness(plugin, level, config);

    it('sends Strict-Transport-Security over HTTPS only', async () => {
      const proof = { 'X-Forwarded-Proto': 'https' };
      const gate = await attach({ sts_seconds: 300, sts_include_subdomains: true, ssl_proxy_headers: proof });
      equal((await gate.send(to('h'))).headers.has('strict-transport-security'), false);
      const reply = await gate.send(to('h', '/', proof));
      equal(reply.headers.get('strict-transport-security'), 'max-age=300; includeSubDomains');
    });

    it('sends Strict-Transport-Security over plain HTTP if forced', async () => {
      const gate = await attach({ sts_seconds: 300, force_sts_header: true });
      equal((await gate.send(to('h'))).headers.get('strict-transport-security'), 'max-age=300');
    });

    it('prefers the custom frame option', async () => {
      const gate = await attach({ frame_deny: true, custom_frame_options_value: 'SAMEORIGIN' });
      deepEqual((await gate.send(to('h'))).headers.getAll('x-frame-options'), ['SAMEORIGIN']);
      const custom = await attach({ custom_frame_options_value: 'SAMEORIGIN' });
      equal((await custom.send(to('h'))).headers.get('x-frame-options'), 'SAMEORIGIN');
    });

    it('sends every configured header', async () => {
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

    it('inserts a new nonce into the Content-Security-Policy of each response', async () => {
      const gate = await attach({ content_security_policy: 'script-src $NONCE; style-src $NONCE' });
      const [one, two] = [await gate.send(to('h')), await gate.send(to('h'))].map(
        ({ headers }) => headers.get('content-security-policy')!,
      );
      match(one!, /^script-src ('nonce-[A-Za-z0-9+/]{22}'); style-src \1$/);
      notEqual(one, two);
    });

    it('is inactive if nothing is configured', async () => {
      deepEqual((await attach({})).attached, {});
    });

    it('ignores hosts, redirects and Strict-Transport-Security in development mode', async () => {
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

    it('logs rejected hosts at most once a second', async () => {
      const lines: string[] = [];
      const log: Log = {
        ...silentLog,
        at: () => log,
        warning: (line) => lines.push(typeof line === 'function' ? line() : line),
      };
      const clock = { time: 0, now: () => clock.time };
      const gate = await openHarness(plugin, level, { allowed_hosts: ['x'] }, { services: { clock, log } });
      for (const host of ['a', 'b', 'c']) await gate.send(to(host));
      clock.time = 1000;
      await gate.send(to('d'));
      deepEqual(lines, ['[HTTPsecure] Bad Host: "a"', '[HTTPsecure] Bad Host: "d"']);
    });

    it('warns about redirects that would lead to an endless loop', async () => {
      const gate = await attach({ ssl_redirect: true });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['SECURITY_REDIRECT_LOOP'],
      );
      deepEqual((await attach({ ssl_redirect: true, ssl_proxy_headers: { A: 'b' } })).warnings, []);
      const tls = { tls: {} } as object;
      deepEqual((await openHarness(plugin, level, { ssl_redirect: true }, { service: tls })).warnings, []);
    });

    it('warns about the obsolete key pinning', async () => {
      const gate = await attach({ hpkp_public_key: 'x' });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['OPTION_UNUSED'],
      );
    });

    for (const [what, config, code] of [
      ['an invalid regular expression', { allowed_hosts: ['('], allowed_hosts_are_regex: true }, 'PATTERN_INVALID'],
      [
        'a regular expression with a stray bracket',
        { allowed_hosts: ['a)|(b'], allowed_hosts_are_regex: true },
        'PATTERN_INVALID',
      ],
      [
        'a regular expression with lookahead',
        { allowed_hosts: ['(?!admin)\\w+\\.test'], allowed_hosts_are_regex: true },
        'PATTERN_INVALID',
      ],
      ['an invalid header name', { host_proxy_headers: ['X Host'] }, 'SECURITY_HEADER_NAME'],
      ['an invalid header value', { referrer_policy: 'a\nb' }, 'SECURITY_HEADER_VALUE'],
    ] as const) {
      it(`rejects ${what}`, async () => {
        await rejects(attach(config), (error) => error instanceof ConfigErrors && error.errors[0]?.code === code);
      });
    }

    it('rejects fields of the wrong type and unknown fields', async () => {
      await rejects(attach({ frame_deny: 'yes' }), { code: 'CONFIG_INVALID' });
      await rejects(attach({ frames_deny: true }), { code: 'CONFIG_INVALID' });
    });

    it('releases all its resources', async () => {
      deepEqual(await (await attach({ frame_deny: true })).close(), { kept: 0, deferred: 0 });
    });
  });
}
