import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openRaw, sendRaw, statusesOf } from './raw.ts';

const get = 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const reported = 'HTTP/1.1 100 Continue\r\n\r\n';

describe('a request with Expect: 100-continue', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    backend = await startBackend(json({}));
    const several = [{ url_pattern: '/1' }, { url_pattern: '/2' }];
    gateway = await startGateway({
      host: [backend.url],
      use_h2c: true,
      extra_config: { router: { error_body: { '404': { error: 'x'.repeat(2000) } } } },
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/' }] },
        { endpoint: '/whole', method: 'POST', backend: several },
        { endpoint: '/pass', method: 'POST', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
        { endpoint: '/small', method: 'POST', backend: several, extra_config: { proxy: { max_payload: 10 } } },
      ],
    });
    ({ port } = await gateway.listen());
  });
  beforeEach(() => {
    (backend.requests as unknown[]).length = 0;
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

  for (const [name, path] of [
    ['is read', '/whole'],
    ['streams through', '/pass'],
  ] as const) {
    it(`receives 100 Continue when its body ${name}`, async () => {
      const client = await openRaw(port);
      client.write(head(path, 5));
      await client.until((received) => received === reported);
      client.write(`hello${get}`);
      deepEqual(statusesOf(await client.ended()), [100, 200, 200]);
      const [seen] = backend.requests;
      deepEqual([seen!.body.toString(), seen!.headers.expect], ['hello', undefined]);
    });
  }

  for (const [name, path, length, status] of [
    ['there is no endpoint', '/none', 5, 404],
    ['the declared length is over the limit', '/small', 11, 413],
  ] as const) {
    it(`is rejected without 100 Continue if ${name}, and its connection ends`, async () => {
      const received = await sendRaw(port, head(path, length));
      deepEqual(statusesOf(received), [status]);
      match(received, /\r\nConnection: close\r\n/i);
      equal(backend.requests.length, 0);
    });

    it(`is rejected over HTTP/2 without 100 Continue if ${name}`, async () => {
      const session = connect(`http://127.0.0.1:${port}`);
      const headers = { ':method': 'POST', ':path': path, expect: '100-continue', 'content-length': length };
      const stream = session.request(headers, { endStream: false });
      let reported = false;
      stream.once('continue', () => {
        reported = true;
      });
      const [response] = (await once(stream, 'response')) as [{ ':status': number }];
      deepEqual([response[':status'], reported], [status, false]);
      session.destroy();
      equal(backend.requests.length, 0);
    });
  }

  it('receives 100 Continue over HTTP/2 when its body is read', async () => {
    const session = connect(`http://127.0.0.1:${port}`);
    const headers = { ':method': 'POST', ':path': '/whole', expect: '100-continue' };
    const stream = session.request(headers, { endStream: false });
    await once(stream, 'continue');
    stream.end('hello');
    const [response] = (await once(stream, 'response')) as [{ ':status': number }];
    deepEqual([response[':status'], backend.requests[0]!.body.toString()], [200, 'hello']);
    session.destroy();
  });

  for (const length of [5, 1_000_000]) {
    it(`is rejected with a compressed response without 100 Continue, with a body of ${length} bytes`, async () => {
      const asked = head('/none', length).replace('Expect', 'Accept-Encoding: gzip\r\nExpect');
      const received = await sendRaw(port, asked);
      deepEqual(statusesOf(received), [404]);
      match(received, /\r\nContent-Encoding: gzip\r\n/i);
    });
  }
});
