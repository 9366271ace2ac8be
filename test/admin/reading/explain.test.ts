import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import type { Operations } from '#kernel';
import { startGateway } from '../../support/gateway.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('a trial request over the admin API', () => {
  let server: Server;
  let gateway: Operations;
  let admin: ReadingPort;
  let left: Promise<void>;

  before(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    left = promise;
    server = createServer((request, response) => {
      if (request.url === '/silent') {
        server.emit('silent');
        response.once('close', () => server.emit('abandoned'));
        return;
      }
      if (request.url === '/endless') {
        response.once('close', resolve);
        const write = () => response.write('x'.repeat(64 * 1024)) && setImmediate(write);
        response.on('drain', write);
        write();
        return;
      }
      response.end(JSON.stringify({ method: request.method, seen: request.headers['x-seen'] ?? null }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    const plain = { output_encoding: 'no-op' };
    gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/a',
          method: 'POST',
          input_headers: ['X-Seen'],
          backend: [{ host, url_pattern: '/a', method: 'POST' }],
        },
        { endpoint: '/silent', timeout: '60s', backend: [{ host, url_pattern: '/silent' }] },
        {
          endpoint: '/endless',
          ...plain,
          timeout: '60s',
          backend: [{ host, url_pattern: '/endless', encoding: 'no-op' }],
        },
      ],
    });
    admin = await openReading(gateway);
  });
  after(async () => {
    await admin.close();
    await gateway.close();
    server.closeAllConnections();
    server.close();
  });

  it('is explained without being sent', async () => {
    const sample = { method: 'post', path: '/a?b=1', headers: { 'X-Seen': '1', Cookie: 'c=1' } };
    const { status, body } = await admin.send('POST', '/v1/explain', sample);
    equal(status, 200);
    equal(body.match.route.id, 'POST /a');
    const [{ method, clientHeaders }] = body.forwarded;
    equal(method, 'POST');
    const passing = clientHeaders.map(({ name, passes }: { name: string; passes: boolean }) => [name, passes]);
    deepEqual(Object.fromEntries(passing)['Cookie'] ?? Object.fromEntries(passing)['cookie'], false);
  });

  it('is sent, and its response is returned', async () => {
    const sample = { method: 'POST', path: '/a', headers: { 'X-Seen': ['1'] }, body: 'text' };
    const { status, body } = await admin.send('POST', '/v1/try', sample);
    equal(status, 200);
    deepEqual([body.status, JSON.parse(body.body), body.truncated], [200, { method: 'POST', seen: '1' }, false]);
    ok(body.headers.some(([name]: [string]) => name === 'content-type'));
  });

  it('ends after 1 MiB of a response that never ends, also at the backend', async () => {
    const { body } = await admin.send('POST', '/v1/try', { path: '/endless' });
    deepEqual([body.status, body.truncated, body.body.length], [200, true, 1024 * 1024]);
    await left;
  });

  it('fails after 10 seconds without a response, regardless of the timeout of the endpoint', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const responding = admin.send('POST', '/v1/try', { path: '/silent' });
    await once(server, 'silent');
    mock.timers.tick(10_000);
    mock.timers.reset();
    const { status, body } = await responding;
    deepEqual([status, body.detail], [504, 'no response within 10 s']);
  });

  it('ends when the client of the admin API disconnects', async () => {
    const controller = new AbortController();
    const asked = admin.ask('/v1/try', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: '/silent' }),
      signal: controller.signal,
    });
    await once(server, 'silent');
    const left = once(server, 'abandoned');
    controller.abort();
    await rejects(asked);
    await left;
  });

  for (const [what, sample, reason] of [
    ['no path', {}, /path must begin with a slash/],
    ['a path that is not encoded', { path: '/a b' }, /path must begin with a slash/],
    ['an unknown method', { path: '/a', method: 'G T' }, /method must be/],
    ['a header with a line break', { path: '/a', headers: { a: 'b\r\nc: d' } }, /header "a" is not valid/],
    ['an unknown field', { path: '/a', ['__proto__x']: 1 }, /unknown field __proto__x/],
  ] as const) {
    it(`is rejected if it has ${what}`, async () => {
      for (const operation of ['/v1/explain', '/v1/try']) {
        const { status, body } = await admin.send('POST', operation, sample);
        equal(status, 400);
        match(body.detail, reason);
      }
    });
  }
});
