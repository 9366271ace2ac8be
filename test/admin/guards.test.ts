import { equal, match, ok } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { config, openAdmin, type TestAdmin } from './support.ts';

const sha256 = (token: string) => hash('sha256', token);

/** The configuration with these settings of the admin port. */
const withAdmin = (settings: object) => ({ ...config(), extra_config: { 'admin/api': settings } });

describe('access to the admin API', () => {
  let one: TestAdmin;
  afterEach(() => one.close());

  describe('by client address', () => {
    it('is allowed from all addresses by default', async () => {
      one = await openAdmin();
      equal((await one.ask('/live')).status, 200);
    });

    it('is rejected from outside the configured networks', async () => {
      one = await openAdmin(withAdmin({ allowed_ips: ['10.0.0.0/8'] }));
      const { status, body } = await one.ask('/live');
      equal(status, 403);
      equal(body.type, 'urn:gateway:problem:forbidden');
    });

    it('follows the networks of a reloaded configuration immediately', async () => {
      one = await openAdmin(withAdmin({ allowed_ips: ['127.0.0.1'] }));
      equal((await one.ask('/live')).status, 200);
      await one.gateway.reload(withAdmin({ allowed_ips: ['10.0.0.1'] }));
      equal((await one.ask('/live')).status, 403);
    });
  });

  describe('by Host header', () => {
    beforeEach(async () => {
      one = await openAdmin(withAdmin({ allowed_hosts: ['Admin.internal:9180'] }));
    });

    const withHost = (host: string) => one.ask('/live', { headers: { host } });

    it('is rejected for a foreign host name, before the token is checked', async () => {
      const { status, body } = await withHost('evil.test');
      equal(status, 421);
      equal(body.type, 'urn:gateway:problem:misdirected-request');
    });

    it('is accepted under every name of the loopback address, with its port', async () => {
      const [, port] = one.admin.address!.split(':');
      for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST']) {
        equal((await withHost(`${name}:${port}`)).status, 200, name);
      }
    });

    it('is rejected for its own host name with another port', async () =>
      equal((await withHost('localhost:1')).status, 421));

    it('is rejected for its own host name without a port', async () =>
      equal((await withHost('localhost')).status, 421));

    it('is accepted for configured host names in any letter case', async () => {
      equal((await withHost('admin.INTERNAL:9180')).status, 200);
    });
  });

  describe('from web pages', () => {
    beforeEach(async () => {
      one = await openAdmin(withAdmin({ allowed_origins: ['https://console.test', 'null'] }));
    });

    const from = (headers: Record<string, string>) => one.ask('/v1/status', { headers });

    it('is rejected for an origin that is not allowed, even with a valid token', async () => {
      const { status, body } = await from({ origin: 'http://evil.test' });
      equal(status, 403);
      equal(body.type, 'urn:gateway:problem:origin');
    });

    it('is rejected for the origin null, even if it is listed', async () =>
      equal((await from({ origin: 'null' })).status, 403));

    it('is rejected for a cross-site request without an Origin', async () => {
      equal((await from({ 'sec-fetch-site': 'cross-site' })).status, 403);
    });

    it('is rejected without the required header', async () => {
      equal((await from({ origin: 'https://console.test', 'sec-fetch-mode': 'no-cors' })).status, 403);
    });

    it('is granted to an allowed origin by CORS headers', async () => {
      const { status, headers } = await from({ origin: 'https://console.test', 'sec-fetch-site': 'cross-site' });
      equal(status, 200);
      equal(headers['access-control-allow-origin'], 'https://console.test');
      match(headers['vary']!, /Origin/);
      match(String(headers['access-control-expose-headers']), /ETag/);
    });

    it('is granted to the preflight of an allowed origin, with methods and headers', async () => {
      const headers = { origin: 'https://console.test', 'access-control-request-method': 'PUT' };
      const preflight = await one.ask('/v1/config', { method: 'OPTIONS', token: null, headers });
      equal(preflight.status, 204);
      match(String(preflight.headers['access-control-allow-methods']), /PUT/);
      match(String(preflight.headers['access-control-allow-headers']), /If-Match/);
    });

    it('is not accompanied by CORS headers without an Origin', async () => {
      const { headers } = await one.ask('/v1/config', { method: 'OPTIONS', token: null });
      equal(headers['access-control-allow-origin'], undefined);
      equal(headers['access-control-allow-methods'], undefined);
    });
  });

  it('is rejected for a protocol upgrade', async () => {
    one = await openAdmin();
    const headers = { connection: 'upgrade', upgrade: 'websocket' };
    equal((await one.ask('/v1/status', { headers })).status, 400);
  });

  describe('by token', () => {
    const tokens = [
      { id: 'reader', sha256: sha256('r'), scopes: ['read'] },
      { id: 'writer', sha256: sha256('w'), scopes: ['write'] },
    ];

    beforeEach(async () => {
      one = await openAdmin(withAdmin({ tokens }), { token: undefined });
    });

    it('is rejected without a token', async () => {
      const { status, headers, body } = await one.ask('/v1/status', { token: null });
      equal(status, 401);
      equal(headers['www-authenticate'], 'Bearer');
      equal(body.type, 'urn:gateway:problem:unauthorized');
    });

    it('is rejected for a wrong token', async () => equal((await one.ask('/v1/status', { token: 'x' })).status, 401));

    it('is rejected for another authentication scheme', async () => {
      equal((await one.ask('/v1/status', { token: null, headers: { authorization: 'Basic r' } })).status, 401);
    });

    it('is accepted for a token with the required scope', async () =>
      equal((await one.ask('/v1/status', { token: 'r' })).status, 200));

    it('is rejected for a token without the required scope, which the error names', async () => {
      const { status, body } = await one.ask('/v1/reload', { method: 'POST', token: 'r' });
      equal(status, 403);
      equal(body.type, 'urn:gateway:problem:insufficient-scope');
      match(body.detail, /reader lacks the scope write/);
    });

    it('is rejected for a read with only the scope write', async () => {
      equal((await one.ask('/v1/status', { token: 'w' })).status, 403);
    });

    it('is rejected for a token that a reload removed', async () => {
      await one.gateway.reload(withAdmin({ tokens: tokens.slice(1) }));
      equal((await one.ask('/v1/status', { token: 'r' })).status, 401);
    });

    it('needs no token for probes and metrics', async () => {
      for (const path of ['/live', '/ready', '/metrics'])
        equal((await one.ask(path, { token: null })).status, 200, path);
    });

    it('is checked before any information is returned', async () => {
      equal((await one.ask('/v1/nothing', { token: null })).status, 401);
      equal((await one.ask('/v1/config', { method: 'DELETE', token: null })).status, 401);
    });

    it('is rejected with 429 after ten wrong tokens from one address', async () => {
      for (let failure = 0; failure < 10; failure++) {
        equal((await one.ask('/v1/status', { token: 'x' })).status, 401);
      }
      const { status, headers, body } = await one.ask('/v1/status', { token: 'y' });
      equal(status, 429);
      equal(body.type, 'urn:gateway:problem:too-many-requests');
      const wait = Number(headers['retry-after']);
      ok(wait > 50 && wait <= 60, String(wait));
    });

    it('is accepted for a valid token from an address that has sent wrong tokens', async () => {
      for (let failure = 0; failure < 12; failure++) await one.ask('/v1/status', { token: 'x' });
      equal((await one.ask('/v1/status', { token: 'r' })).status, 200);
    });

    it('logs once that an address sends too many wrong tokens', async () => {
      for (let failure = 0; failure < 12; failure++) await one.ask('/v1/status', { token: 'x' });
      equal(one.lines.filter((line) => line.includes('too many wrong tokens')).length, 1);
    });
  });
});
