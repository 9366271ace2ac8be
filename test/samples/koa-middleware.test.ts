import { deepEqual, equal, match } from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { type ServedCopy, serveCopy } from './serve-copy.ts';

/** A plugin of three lines that uses a published middleware; `expression` creates the middleware. */
const threeLines = (name: string, expression: string, more = '') => `import wrapped from '${name}';
import { definePlugin } from 'sluice/plugin';
export const plugin = definePlugin({ name: 'acme/koa', contract: 1, description: '${name}.', always: () => ({ middleware: ${expression}${more} }) });
`;

describe('Koa middleware from npm in a plugin of three lines', () => {
  let backend: TestBackend;
  let served: ServedCopy;

  before(async () => {
    backend = await startBackend(json({ text: 'x'.repeat(5000) }));
  });
  after(() => backend.close());
  afterEach(() => served.close());

  const serve = async (source: string): Promise<void> => {
    served = await serveCopy('compress', { '127.0.0.1:8081': backend.host }, { 'compress.ts': source });
  };

  it('compresses responses with koa-compress', async () => {
    await serve(threeLines('koa-compress', 'wrapped()', ', readsReply: true'));
    const { headers, rawPayload } = await served.get('/users/1', { 'accept-encoding': 'gzip' });
    deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'Accept-Encoding']);
    equal(JSON.parse(gunzipSync(rawPayload).toString()).text.length, 5000);
  });

  it('sets security headers with koa-helmet, also on rejections', async () => {
    await serve(threeLines('koa-helmet', 'wrapped()'));
    for (const path of ['/users/1', '/nowhere']) {
      const { headers } = await served.get(path);
      equal(headers['x-content-type-options'], 'nosniff', path);
      match(String(headers['content-security-policy']), /default-src 'self'/);
    }
  });

  it('limits rates with koa-ratelimit', async () => {
    const options = `{ driver: 'memory', db: new Map(), duration: 3600000, max: 2 }`;
    await serve(threeLines('koa-ratelimit', `wrapped(${options})`));
    const answers = [await served.get('/users/1'), await served.get('/users/1'), await served.get('/users/1')];
    deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 429],
    );
    deepEqual(
      answers.map(({ headers }) => headers['x-ratelimit-remaining']),
      ['1', '0', '0'],
    );
  });

  it('answers cross-origin requests with @koa/cors, including preflights', async () => {
    await serve(threeLines('@koa/cors', 'wrapped()'));
    const origin = 'https://shop.example';
    equal((await served.get('/users/1', { origin })).headers['access-control-allow-origin'], '*');
    const preflight = await served.gateway.inject({
      method: 'OPTIONS',
      url: '/users/1',
      headers: { origin, 'access-control-request-method': 'PUT' },
    });
    equal(preflight.statusCode, 204);
    match(String(preflight.headers['access-control-allow-methods']), /PUT/);
  });
});
