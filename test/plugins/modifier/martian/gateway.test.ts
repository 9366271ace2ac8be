import { deepEqual, equal } from 'node:assert/strict';
import type { Gateway } from '#kernel';
import {
  json,
  rememberingSinks,
  type SeenRequest,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

/** An endpoint whose backend has a modifier. */
const changed = (endpoint: string, martian: object, backend: object = {}, around: object = {}) => ({
  endpoint,
  ...around,
  backend: [{ url_pattern: '/x', ...backend, extra_config: { 'modifier/martian': martian } }],
});

const set = (name: string, value: string, side: string) => ({ 'header.Modifier': { name, value, scope: [side] } });

describe('modifier/martian in a gateway', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend((seen, response) =>
      json({ x: 2 }, seen.target === '/missing' ? 404 : 200)(seen, response),
    );
    const raw = { output_encoding: 'no-op' };
    gateway = await startGateway(
      {
        host: [backend.url],
        endpoints: [
          changed('/authorized', set('Authorization', 'Basic eA==', 'request')),
          changed(
            '/amount',
            { 'querystring.Modifier': { name: 'amount', value: '75' } },
            {},
            { input_query_strings: ['currency', 'amount'] },
          ),
          changed('/body', {
            'body.Modifier': { body: 'eyJtIjoxfQ==', contentType: 'application/json', scope: ['response'] },
          }),
          changed(
            '/cookie',
            {
              'cookie.Filter': {
                name: 'c',
                value: 'yes',
                modifier: set('X-C', 't', 'request'),
                else: set('X-C', 'f', 'request'),
              },
            },
            {},
            { input_headers: ['Cookie'] },
          ),
          changed('/unforwarded', {
            'cookie.Filter': { name: 'c', modifier: set('X-C', 't', 'request'), else: set('X-C', 'f', 'request') },
          }),
          changed('/plain', { 'header.Blacklist': { names: ['X-Forwarded-For'], scope: ['request'] } }),
          changed(
            '/elsewhere',
            { 'url.Modifier': { host: backend.host, path: '/p' } },
            { host: ['http://h1.invalid'] },
          ),
          changed('/found', { 'status.Modifier': { statusCode: 200 } }, { url_pattern: '/missing' }),
          changed('/hidden', set('X-Kept', '1', 'response')),
          changed(
            '/raw',
            { 'cookie.Modifier': { name: 'n', value: 'v', maxAge: 60, secure: true, scope: ['response'] } },
            {},
            raw,
          ),
          changed('/posted', { 'body.Modifier': { body: 'bmV3', scope: ['request'] } }, {}, { method: 'POST' }),
          changed('/twin', set('X-Role', 'user', 'request'), {}, { input_headers: ['*'] }),
          changed('/broken', set('Content-Length', '5', 'request')),
        ],
      },
      { sinks },
    );
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const seen = async (url: string, options: object = {}): Promise<SeenRequest> => {
    await gateway.inject({ url, ...options });
    return backend.requests.at(-1)!;
  };

  it('sets a header that the backend receives', async () => {
    equal((await seen('/authorized')).headers.authorization, 'Basic eA==');
  });

  it('adds a query parameter to the forwarded ones', async () => {
    equal((await seen('/amount?currency=EUR&amount=5&evil=1')).target, '/x?amount=75&currency=EUR');
  });

  it('replaces a body before it is decoded', async () => {
    deepEqual((await gateway.inject('/body')).json(), { m: 1 });
  });

  it('matches forwarded cookies', async () => {
    equal((await seen('/cookie', { headers: { cookie: 'c=no' } })).headers['x-c'], 'f');
    equal((await seen('/cookie', { headers: { cookie: 'c=yes' } })).headers['x-c'], 't');
  });

  it('does not see cookies that are not forwarded', async () => {
    equal((await seen('/unforwarded', { headers: { cookie: 'c=yes' } })).headers['x-c'], 'f');
  });

  it("removes the gateway's own headers", async () => {
    equal((await seen('/plain')).headers['x-forwarded-for'], undefined);
  });

  it('calls another host with the Host header of the original one', async () => {
    const { target, headers } = await seen('/elsewhere');
    deepEqual([target, headers.host], ['/p', 'h1.invalid']);
  });

  it('sets a status that determines whether the response is decoded', async () => {
    deepEqual((await gateway.inject('/found')).json(), { x: 2 });
  });

  it('returns response headers with no-op only', async () => {
    equal((await gateway.inject('/hidden')).headers['x-kept'], undefined);
  });

  it('sets a cookie for the client', async () => {
    equal(String((await gateway.inject('/raw')).headers['set-cookie']), 'n=v; Max-Age=60; Secure');
  });

  it('replaces a body that the client is still sending', async () => {
    const { body, headers } = await seen('/posted', { method: 'POST', payload: 'x'.repeat(100_000) });
    deepEqual([String(body), headers['content-length'], headers['transfer-encoding']], ['new', '3', undefined]);
  });

  it('drops client headers that look like a header it sets', async () => {
    const { headers } = await seen('/twin', { headers: { x_role: 'admin', 'x-role': 'admin' } });
    deepEqual([headers['x-role'], headers['x_role']], ['user', undefined]);
  });

  it('fails the call with 500 and a log line if one of its modifiers fails', async () => {
    const calls = backend.requests.length;
    equal((await gateway.inject('/broken')).statusCode, 500);
    equal(backend.requests.length, calls);
    const lines = sinks.lines.filter((line) => line.includes('ERROR'));
    deepEqual(
      [lines.length, lines[0]!.includes('modifier/martian: Content-Length 5 does not match the body of 0 bytes')],
      [1, true],
    );
  });

  it('prevents the gateway from starting if its configuration is invalid', async () => {
    const config = { host: [backend.url], endpoints: [changed('/', { 'body.Modifier': { body: '%' } })] };
    const error = await startGateway(config).catch((given: Error) => given);
    equal(
      (error as { errors?: { pointer: string }[] }).errors?.[0]?.pointer,
      '/endpoints/0/backend/0/extra_config/modifier~1martian/body.Modifier/body',
    );
  });
});
