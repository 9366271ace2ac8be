import { deepEqual, equal } from 'node:assert/strict';
import { type EndpointConfig, HeaderBag, makeRequest, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/http/index.ts';
import { bodyOf, to } from './fixture.ts';

/** Sends one request through the root-level component over an encrypted or plain connection. */
async function serve(
  config: object,
  { secure = false, matched = null as object | null, method = 'GET' as 'GET' | 'POST' } = {},
) {
  const gate = await openHarness(plugin, 'service', config, { next: () => new Reply(404) });
  const sections = { method, path: '/p', search: 'q=1', host: 'h', secure };
  return gate.send(makeRequest(sections, () => matched as EndpointConfig | null));
}

describe('security/http at the root', () => {
  it('adds its headers to unknown paths', async () => {
    const response = await serve({ content_type_nosniff: true });
    equal(response.status, 404);
    equal(response.headers.get('x-content-type-options'), 'nosniff');
  });

  it('detects HTTPS from the connection', async () => {
    const config = { ssl_redirect: true, sts_seconds: 300 };
    const response = await serve(config, { secure: true });
    equal(response.status, 404);
    equal(response.headers.get('strict-transport-security'), 'max-age=300');
    equal((await serve(config)).status, 301);
  });

  it('responds to a redirected POST with an empty body', async () => {
    const response = await serve({ ssl_redirect: true }, { method: 'POST' });
    equal(response.status, 301);
    equal(response.body, null);
  });

  it("is replaced by an endpoint's own settings, even if they are empty", async () => {
    const matched = { extra_config: { 'security/http': {} } };
    const response = await serve({ allowed_hosts: ['x'], frame_deny: true }, { matched });
    equal(response.status, 404);
    equal(response.headers.get('x-frame-options'), undefined);
  });

  it('applies to endpoints without settings of their own', async () => {
    const matched = { extra_config: { 'security/cors': {} } };
    equal((await serve({ allowed_hosts: ['x'] }, { matched })).status, 500);
  });
});

describe('security/http at an endpoint', () => {
  it("replaces the backend's header of the same name", async () => {
    const next = () => Reply.raw(200, new HeaderBag(['x-frame-options', 'ALLOWALL', 'X-Other', '1']), null);
    const gate = await openHarness(plugin, 'endpoint', { frame_deny: true }, { next });
    const { headers } = await gate.send(to('h'));
    deepEqual(headers.getAll('x-frame-options'), ['DENY']);
    equal(headers.get('x-other'), '1');
  });

  it('adds its headers to failures', async () => {
    const next = async () => new Reply(401);
    const gate = await openHarness(plugin, 'endpoint', { frame_deny: true }, { next });
    equal((await gate.send(to('h'))).headers.get('x-frame-options'), 'DENY');
  });

  it('escapes the URL in the body of a redirect', async () => {
    const gate = await openHarness(plugin, 'endpoint', { ssl_redirect: true });
    const reply = await gate.send(to('h', "/?a=1&b='<x>"));
    const address = 'https://h/?a=1&#38;b=&#39;&#60;x&#62;';
    equal(bodyOf(reply), `<a href="${address}">Moved Permanently</a>.\n`);
  });
});
