import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import https from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Gateway, GatewayOptions } from '../../../kernel/sluice.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, rememberingSinks, type TestBackend } from '../../support/gateway.ts';
import { startNginx, withoutNginx } from '../../support/nginx.ts';
import { binaryHeader } from '../../support/proxy-header.ts';
import { openRaw, sendRaw } from './raw.ts';
import { ask, Secure } from './secure.ts';

const get = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const line = 'PROXY TCP4 203.0.113.7 10.0.0.1 8080 80\r\n';
const trusted = { proxy_protocol: { trusted: ['127.0.0.1', '::1'] } };

describe('the PROXY protocol on the public port', () => {
  let secure: Secure;
  let backend: TestBackend;
  let gateway: Gateway;
  const sockets: Socket[] = [];
  before(() => {
    secure = new Secure();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await secure.close();
  });
  after(() => secure.made.remove());

  const listen = async (config: object = trusted, options?: GatewayOptions): Promise<number> => {
    backend = await secure.backend(json({ a: 1 }));
    const endpoints = [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    const opened = await secure.listen({ endpoints, ...config }, options);
    gateway = opened.gateway;
    return opened.port;
  };
  const seen = () => backend.requests.map(({ headers }) => headers['x-forwarded-for']);

  const headers: [title: string, header: string | Buffer, ip: string][] = [
    ['version 1 over IPv4', line, '203.0.113.7'],
    ['version 1 over IPv6', 'PROXY TCP6 2001:db8::7 fd00::1 8080 80\r\n', '2001:db8::7'],
    ['version 1 with an unknown client', 'PROXY UNKNOWN\r\n', '127.0.0.1'],
    ['version 2', binaryHeader(0x21, 0x11, [203, 0, 113, 7, 10, 0, 0, 1, 1, 2, 0, 80, 2, 0, 1, 97]), '203.0.113.7'],
    ['version 2 of a health check', binaryHeader(0x20, 0, []), '127.0.0.1'],
    ['an IPv4 address written as IPv6', 'PROXY TCP6 ::ffff:203.0.113.7 fd00::1 8080 80\r\n', '203.0.113.7'],
  ];
  for (const [title, header, ip] of headers) {
    it(`takes the client's address from the header: ${title}`, async () => {
      const port = await listen();
      match(await sendRaw(port, Buffer.concat([Buffer.from(header as string), Buffer.from(get)])), /^HTTP\/1.1 200 OK/);
      deepEqual(seen(), [ip]);
    });
  }

  it('accepts a header that arrives byte by byte', async () => {
    const port = await listen();
    const client = await openRaw(port);
    client.socket.setNoDelay();
    for (const byte of line) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.write(get);
    match(await client.ended(), /^HTTP\/1.1 200 OK/);
    deepEqual(seen(), ['203.0.113.7']);
  });

  it('keeps the address for all requests of a connection', async () => {
    const client = await openRaw(await listen());
    client.write(line + get.replace('Connection: close\r\n', ''));
    await client.until((received) => received.endsWith('{"a":1}'));
    client.write(get);
    await client.ended();
    deepEqual(seen(), ['203.0.113.7', '203.0.113.7']);
  });

  for (const [title, bytes] of [
    ['without a header', get],
    ['with a malformed header', `PROXY TCP4 evil 10.0.0.1 1 2\r\n${get}`],
    ['with a header that is too long', binaryHeader(0x21, 0x11, [], 60_000)],
  ] as const) {
    it(`closes connections of a trusted proxy ${title}, logs the reason and counts them`, async () => {
      const sinks = rememberingSinks();
      const port = await listen(trusted, { sinks });
      equal(await sendRaw(port, bytes), '');
      equal(await sendRaw(port, bytes), '');
      equal(backend.requests.length, 0);
      const lines = sinks.lines.filter((text) => text.includes('connection from 127.0.0.1 closed: '));
      equal(lines.length, 1);
      match(lines[0]!, /WARNING/);
      equal((gateway as unknown as { processes: { headerFaults: number } }).processes.headerFaults, 2);
    });
  }

  it('closes connections whose header does not arrive within header_timeout', async () => {
    const sinks = rememberingSinks();
    const port = await listen({ proxy_protocol: { trusted: ['127.0.0.1'], header_timeout: '50ms' } }, { sinks });
    equal(await sendRaw(port, 'PROXY TCP4'), '');
    ok(sinks.lines.some((text) => text.includes('no PROXY protocol header within 50 ms')));
  });

  it('does not report connections that are closed without a byte, as port checks do', async () => {
    const sinks = rememberingSinks();
    const port = await listen(trusted, { sinks });
    const client = await openRaw(port);
    client.socket.end();
    await client.ended();
    equal(sinks.lines.filter((text) => text.includes('PROXY')).length, 0);
  });

  it('serves other addresses without a header, and does not accept one from them', async () => {
    const port = await listen({ proxy_protocol: { trusted: ['192.0.2.0/24'] } });
    match(await sendRaw(port, get), /^HTTP\/1.1 200 OK/);
    match(await sendRaw(port, line + get), /^HTTP\/1.1 400 /);
    deepEqual(seen(), ['127.0.0.1']);
  });

  it('accepts no header by default', async () => {
    match(await sendRaw(await listen({}), line + get), /^HTTP\/1.1 400 /);
  });

  it('precedes TLS and HTTP/2 over TLS', async () => {
    const port = await listen({ ...secure.tls(), ...trusted });
    const ca = secure.authority.certificatePem;
    for (const protocol of ['http/1.1', 'h2'] as const) {
      const carrier = connectTcp(port, '127.0.0.1').on('error', () => {});
      sockets.push(carrier);
      await once(carrier, 'connect');
      carrier.write(line);
      const socket = connectTls({ socket: carrier, ca, servername: 'localhost', ALPNProtocols: [protocol] });
      await once(socket, 'secureConnect');
      if (protocol === 'h2') {
        const session = connectHttp2('https://localhost', { createConnection: () => socket });
        equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
        session.destroy();
      } else {
        socket.write(get);
        await until(() => backend.requests.length === 1);
      }
    }
    deepEqual(seen(), ['203.0.113.7', '203.0.113.7']);
  });

  it('precedes HTTP/2 without TLS', async () => {
    const port = await listen({ ...trusted, use_h2c: true });
    const carrier = connectTcp(port, '127.0.0.1').on('error', () => {});
    sockets.push(carrier);
    carrier.write(line);
    const session = connectHttp2('http://localhost', { createConnection: () => carrier });
    equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
    session.destroy();
    deepEqual(seen(), ['203.0.113.7']);
  });

  it('sets the address for rate limits, the access log and ip-filter', async () => {
    const sinks = rememberingSinks();
    const limits = { 'qos/ratelimit/router': { client_max_rate: 1, every: '1h', strategy: 'ip' } };
    backend = await secure.backend(json({ a: 1 }));
    const endpoints = [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }], extra_config: limits }];
    const filter = { name: ['ip-filter'], 'ip-filter': { CIDR: ['198.51.100.0/24'], allow: false } };
    const { port } = await secure.listen({ endpoints, ...trusted, extra_config: { 'plugin/http-server': filter } }, {
      sinks,
      log: true,
    } as GatewayOptions);
    const statusFor = async (ip: string) =>
      (await sendRaw(port, `PROXY TCP4 ${ip} 10.0.0.1 8080 80\r\n${get}`)).split(' ')[1];
    deepEqual([await statusFor('203.0.113.1'), await statusFor('203.0.113.1')], ['200', '429']);
    equal(await statusFor('203.0.113.2'), '200');
    equal(await statusFor('198.51.100.9'), '403');
    await until(() => sinks.lines.some((text) => text.includes('203.0.113.2')));
  });

  it('follows the settings of the next configuration', async () => {
    const port = await listen({ debug_endpoint: true });
    const probe = 'GET /__health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    match(await sendRaw(port, probe), /^HTTP\/1.1 200/);
    await gateway.reload({ version: 3, ...trusted });
    equal(await sendRaw(port, probe), '');
    match(await sendRaw(port, line + probe), /^HTTP\/1.1 200/);
  });

  it('does not delay a stop while a header is incomplete', async () => {
    const client = await openRaw(await listen());
    client.write('PROXY');
    await gateway.close();
    equal(await client.ended(), '');
  });
});

const suite = withoutNginx ? describe.skip : describe;
suite(`nginx in front of the public port${withoutNginx ? ` (${withoutNginx})` : ''}`, () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  after(async () => {
    await secure.close();
    secure.made.remove();
  });

  it('announces its clients over the PROXY protocol, with and without TLS', async () => {
    const backend = await secure.backend(json({ a: 1 }));
    const endpoints = [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    for (const [tls, options] of [
      [{}, {}],
      [secure.tls(), { ca: secure.authority.certificatePem }],
    ] as const) {
      const { port } = await secure.listen({ endpoints, ...trusted, ...tls });
      const front = await freePort();
      const stop = await startNginx(
        front,
        `stream { server { listen 127.0.0.1:${front}; proxy_pass 127.0.0.1:${port}; proxy_protocol on; } }`,
      );
      try {
        const { request } = 'ca' in options ? https : http;
        const target = {
          host: '127.0.0.1',
          localAddress: '127.0.0.9',
          port: front,
          path: '/a',
          servername: 'localhost',
        };
        const [response] = await once(request({ ...target, ...options, agent: false }).end(), 'response');
        equal(response.resume().statusCode, 200);
      } finally {
        await stop();
      }
    }
    deepEqual(
      backend.requests.map(({ headers }) => headers['x-forwarded-for']),
      ['127.0.0.9', '127.0.0.9'],
    );
  });
});
