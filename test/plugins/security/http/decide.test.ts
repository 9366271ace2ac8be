import { equal } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/http/index.ts';
import { bodyOf, levels, to } from './fixture.ts';

for (const level of levels) {
  describe(`security/http at the ${level} level`, () => {
    const attach = (config: object) => openHarness(plugin, level, config);

    it('compares the host including its port, in any letter case', async () => {
      const gate = await attach({ allowed_hosts: ['api.x.io:8080'] });
      equal((await gate.send(to('API.x.io:8080'))).status, 200);
      equal((await gate.send(to('api.x.io'))).status, 500);
    });

    it('rejects requests for other hosts with Bad Host, without the configured headers', async () => {
      const gate = await attach({ allowed_hosts: ['x'], frame_deny: true, referrer_policy: 'origin' });
      const reply = await gate.send(to('y'));
      equal(reply.status, 500);
      equal(bodyOf(reply), 'Bad Host\n');
      equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8');
      equal(reply.headers.get('x-content-type-options'), 'nosniff');
      equal(reply.headers.has('x-frame-options'), false);
      equal(reply.headers.has('referrer-policy'), false);
    });

    it('matches regular expressions against the whole host, case-sensitively', async () => {
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

    it('supports flags at the start of a regular expression', async () => {
      const gate = await attach({ allowed_hosts: ['(?i)api\\.x\\.io'], allowed_hosts_are_regex: true });
      equal((await gate.send(to('API.x.io'))).status, 200);
    });

    it('evaluates no regular expression for an overlong host', async () => {
      const gate = await attach({ allowed_hosts: ['.*', '^(\\w+\\.?)*!'], allowed_hosts_are_regex: true });
      equal((await gate.send(to('a'.repeat(512)))).status, 200);
      equal((await gate.send(to('a'.repeat(513)))).status, 500);
    });

    it('reads the original host from the first header that is not empty', async () => {
      const gate = await attach({ allowed_hosts: ['real'], host_proxy_headers: ['X-A', 'X-B'] });
      equal((await gate.send(to('other', '/', { 'X-B': 'real, proxy' }))).status, 200);
      equal((await gate.send(to('real', '/', { 'X-A': 'other' }))).status, 500);
      equal((await gate.send(to('real', '/', { 'X-A': '' }))).status, 200);
    });

    it('redirects plain HTTP to the configured host with path and query', async () => {
      const gate = await attach({ ssl_redirect: true, ssl_host: 's.x.io', frame_deny: true });
      const reply = await gate.send(to('h'));
      equal(reply.status, 301);
      equal(reply.headers.get('location'), 'https://s.x.io/p?q=1');
      equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
      equal(bodyOf(reply), '<a href="https://s.x.io/p?q=1">Moved Permanently</a>.\n');
      equal(reply.headers.has('x-frame-options'), false);
    });

    it("redirects to the request's host by default", async () => {
      const gate = await attach({ ssl_redirect: true, host_proxy_headers: ['X-Forwarded-Host'] });
      equal((await gate.send(to('h:8080'))).headers.get('location'), 'https://h:8080/p?q=1');
      const forwarded = await gate.send(to('h', '/', { 'X-Forwarded-Host': 'real' }));
      equal(forwarded.headers.get('location'), 'https://real/');
    });

    it('redirects requests with other methods without a body', async () => {
      const gate = await attach({ ssl_redirect: true });
      const reply = await gate.send(to('h', '/p', {}, 'POST'));
      equal(reply.status, 301);
      equal(reply.headers.get('location'), 'https://h/p');
      equal(bodyOf(reply), '');
      equal(reply.headers.has('content-type'), false);
    });

    it('treats a request as HTTPS if the configured proxy header has exactly the configured value', async () => {
      const gate = await attach({ ssl_redirect: true, ssl_proxy_headers: { 'X-Forwarded-Proto': 'https' } });
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'https' }))).status, 200);
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'HTTPS' }))).status, 301);
      equal((await gate.send(to('h', '/', { 'X-Forwarded-Proto': 'https, http' }))).status, 301);
    });
  });
}
