import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { sendRaw } from './raw.ts';

describe('a HEAD request', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let answer: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => answer(response));
  });
  beforeEach(() => {
    answer = (response) => response.setHeader('Content-Type', 'application/json').end('{"id":7}');
    (backend.requests as unknown[]).length = 0;
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  const start = async (router: object = {}, fields: object = {}): Promise<void> => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/' }] },
        { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
        { endpoint: '/write', method: 'POST', backend: [{ url_pattern: '/' }] },
      ],
      extra_config: { router },
      ...fields,
    });
    ({ port } = await gateway.listen());
  };

  for (const path of ['/x', '/raw', '/__ready']) {
    it(`is answered like GET, without the body, at ${path}`, async () => {
      await start();
      const get = await ask(port, `GET ${path}`);
      const head = await ask(port, `HEAD ${path}`);
      deepEqual([head.status, head.text], [get.status, '']);
      equal(head.headers['content-length'], String(Buffer.byteLength(get.text)));
      equal(head.headers['content-type'], get.headers['content-type']);
    });
  }

  it('receives no byte of the body, and the connection stays open', async () => {
    await start();
    const request = 'HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n';
    const received = await sendRaw(port, `${request}${request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
    equal(received.match(/HTTP\/1\.1 200/g)?.length, 2);
    equal(received.includes('{'), false);
  });

  it('calls the backend with the method of the endpoint', async () => {
    await start();
    await ask(port, 'HEAD /x');
    deepEqual(
      backend.requests.map(({ method }) => method),
      ['GET'],
    );
  });

  it('does not wait for a streamed backend body', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000000' });
      response.write('some');
      response.once('close', () => closed.resolve());
    };
    await start();
    const { status, headers } = await ask(port, 'HEAD /raw');
    deepEqual([status, headers['content-length']], [200, '1000000']);
    await closed.promise;
  });

  it('works over HTTP/2', async () => {
    await start({}, { use_h2c: true });
    const session = connect(`http://127.0.0.1:${port}`);
    for (const path of ['/x', '/raw']) {
      const stream = session.request({ ':method': 'HEAD', ':path': path });
      const [headers] = await once(stream, 'response');
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await once(stream, 'close');
      deepEqual([headers[':status'], headers['content-length'], text], [200, '8', '']);
    }
    session.close();
    await once(session, 'close');
  });

  it('is listed in the Allow header of paths that list GET', async () => {
    await start({ auto_options: true });
    equal((await ask(port, 'DELETE /x')).headers.allow, 'GET, HEAD');
    equal((await ask(port, 'OPTIONS /x')).headers.allow, 'GET, HEAD');
    equal((await ask(port, 'POST /__health')).headers.allow, 'GET, HEAD');
    equal((await ask(port, 'GET /write')).headers.allow, 'POST');
  });

  it('is rejected with the same status as GET if the path has no GET endpoint', async () => {
    await start();
    deepEqual([(await ask(port, 'HEAD /write')).status, (await ask(port, 'HEAD /none')).status], [405, 404]);
  });

  it('reaches the endpoint of its path before the catch-all', async () => {
    const endpoints = [
      { endpoint: '/x', backend: [{ url_pattern: '/one' }] },
      { endpoint: '/__catchall', backend: [{ url_pattern: '/' }] },
    ];
    await start({}, { endpoints });
    await ask(port, 'HEAD /x');
    await ask(port, 'HEAD /y');
    deepEqual(
      backend.requests.map(({ method, target }) => `${method} ${target}`),
      ['GET /one', 'HEAD /y'],
    );
  });

  it('is rejected with 405 if auto_head is disabled', async () => {
    await start({ auto_head: false });
    const { status, headers } = await ask(port, 'HEAD /x');
    deepEqual([status, headers.allow], [405, 'GET']);
  });
});
