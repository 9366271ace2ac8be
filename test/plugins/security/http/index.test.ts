import { deepEqual, equal } from 'node:assert/strict';
import Koa from 'koa';
import { inject } from 'light-my-request';
import { type EndpointConfig, HeaderBag, Reply } from '#contract';
import { stand } from '../../../../kernel/testing/stand.ts';
import { plugin } from '../../../../plugins/security/http/index.ts';
import { bodyOf, to } from './fixture.ts';

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

  it('writes no markup from the address into the body of a redirect', async () => {
    const gate = await stand(plugin, 'endpoint', { ssl_redirect: true });
    const reply = await gate.send(to('h', "/?a=1&b='<x>"));
    const address = 'https://h/?a=1&#38;b=&#39;&#60;x&#62;';
    equal(bodyOf(reply), `<a href="${address}">Moved Permanently</a>.\n`);
  });
});
