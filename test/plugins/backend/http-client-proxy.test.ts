import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, createServer as createRawServer } from 'node:net';
import { environmentProxy, isProxyAddress, proxyEnvironment } from '../../../plugins/backend/http/client/proxy.ts';
import { Bench, errorOf, send, textOf } from './http-client.ts';

describe('the proxies of backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  it('receive every call of a backend with proxy_address', async () => {
    const seen: string[][] = [];
    const proxy = await bench.serve((request, response) => {
      seen.push([
        request.url!,
        request.headers.host!,
        ...request.rawHeaders.filter((_, at, all) => all[at - (at % 2)] === 'X-Two'),
      ]);
      response.end('from the proxy');
    });
    const gate = await bench.client({ proxy_address: proxy });
    const reply = await send(gate, {
      origin: 'http://far.invalid:81',
      target: '/a?b',
      headers: ['X-Two', '1', 'X-Two', '2'],
    });
    equal(await textOf(reply), 'from the proxy');
    deepEqual(seen, [['http://far.invalid:81/a?b', 'far.invalid:81', 'X-Two', '1', 'X-Two', '2']]);
  });

  for (const [what, head] of [
    ['an unknown Transfer-Encoding', 'Transfer-Encoding: gzip'],
    ['a coding other than chunked', 'Transfer-Encoding: chunked, x'],
    ['an oversized Content-Length', 'Content-Length: 99999999999999999999'],
    ['two Content-Length headers', 'Content-Length: 2\r\nContent-Length: 3'],
  ] as const) {
    it(`fail the call if their response has ${what}`, async () => {
      const proxy = await bench.serveRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\nok`));
      const gate = await bench.client({ proxy_address: proxy });
      const reply = await send(gate, { origin: 'http://far.invalid:81' });
      equal(errorOf(reply).code, 'BACKEND_MALFORMED');
    });
  }

  it('can be SOCKS5 proxies', async () => {
    const origin = await bench.serve((_request, response) => response.end('behind socks'));
    const proxy = await bench.listen(
      createRawServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]));
          socket.once('data', () => {
            socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
            const upstream = connect(Number(new URL(origin).port), '127.0.0.1');
            upstream.on('error', () => {});
            socket.pipe(upstream).pipe(socket);
            socket.once('close', () => upstream.destroy());
          });
        });
      }),
      'socks5',
    );
    const reply = await send(await bench.client({ proxy_address: proxy }), { origin: 'http://far.invalid:81' });
    equal(reply.failed ? errorOf(reply).message : await textOf(reply), 'behind socks');
  });

  it('fail the call if they are unreachable', async () => {
    const proxy = await bench.listen(createRawServer());
    await bench.close();
    const gate = await bench.client({ proxy_address: proxy });
    equal(errorOf(await send(gate, { origin: 'http://far.invalid:81' })).code, 'BACKEND_PROXY');
  });

  it('fail the call if they reject the tunnel', async () => {
    const server = createServer();
    server.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const gate = await bench.client({ proxy_address: await bench.listen(server) });
    equal(errorOf(await send(gate, { origin: 'https://far.invalid' })).code, 'BACKEND_PROXY');
  });

  it('must have a scheme and a port', async () => {
    for (const proxy_address of ['proxy:3128', 'http://proxy', 'ftp://proxy:21', '', 'http://proxy:3128/path']) {
      await rejects(bench.client({ proxy_address }), (errors: Error) => errors.message.includes('HTTP_PROXY_ADDRESS'));
    }
  });

  it('must have a supported scheme', () => {
    for (const address of ['http://p:80', 'https://p:443/', 'socks5://u:p@p.example:1080', 'http://[::1]:3128']) {
      ok(isProxyAddress(address), address);
    }
  });

  it('are read from the environment, lowercase names first', () => {
    const environment = proxyEnvironment({ http_proxy: 'p:1', HTTP_PROXY: 'http://q:2', HTTPS_PROXY: 'http://r:3' });
    equal(environmentProxy(environment, 'http://far.example'), 'http://p:1');
    equal(environmentProxy(environment, 'https://far.example'), 'http://r:3');
  });

  it('are never used for loopback addresses if the environment sets them', () => {
    const environment = proxyEnvironment({ HTTP_PROXY: 'http://p:1' });
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      equal(environmentProxy(environment, `http://${host}:8080`), undefined);
    }
  });

  it('are not used for hosts in NO_PROXY', () => {
    const except = 'example.com, .sub.test,*.star.test, 10.0.0.0/8,192.168.1.1, only.test:8080, [fd00::1]';
    const environment = proxyEnvironment({ HTTP_PROXY: 'http://p:1', NO_PROXY: except });
    const direct = (origin: string) => environmentProxy(environment, origin) === undefined;
    for (const host of [
      'example.com',
      'a.example.com',
      'x.sub.test',
      'x.star.test',
      '10.1.2.3',
      '192.168.1.1',
      'only.test:8080',
      '[fd00::1]',
    ]) {
      ok(direct(`http://${host}`), host);
    }
    for (const host of [
      'notexample.com',
      'sub.test',
      'star.test',
      '11.1.2.3',
      '192.168.1.2',
      'only.test',
      '[fd00::2]',
    ]) {
      ok(!direct(`http://${host}`), host);
    }
    equal(environmentProxy(proxyEnvironment({ HTTP_PROXY: 'http://p:1', NO_PROXY: '*' }), 'http://a.test'), undefined);
  });
});
