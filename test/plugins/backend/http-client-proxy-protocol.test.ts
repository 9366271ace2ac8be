import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { Call, HeaderBag, makeRequest, PipeRequest, Query } from '#contract';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { parseProxyHeader } from '../../../kernel/server/port/proxy-header.ts';
import { proxyHeader } from '../../../plugins/backend/http/client/proxy-header.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { freePort } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';
import { startNginx, withoutNginx } from '../../support/nginx.ts';
import { Bench, textOf } from './http-client.ts';

const to = (remoteAddress: string) => ({ remoteAddress, remotePort: 8080 }) as Socket;

describe('the PROXY protocol header of a backend connection', () => {
  it('of version 1 has the addresses of the client and the backend', () => {
    const header = String(proxyHeader('v1', '203.0.113.7')(to('10.0.0.2')));
    equal(header, 'PROXY TCP4 203.0.113.7 10.0.0.2 0 8080\r\n');
  });
  it('has an unspecified target if the backend has an address of the other family', () => {
    equal(String(proxyHeader('v1', '203.0.113.7')(to('::1'))), 'PROXY TCP4 203.0.113.7 0.0.0.0 0 8080\r\n');
    equal(String(proxyHeader('v1', '2001:db8::7')(to('10.0.0.2'))), 'PROXY TCP6 2001:db8::7 :: 0 8080\r\n');
  });
  it('announces the gateway itself for requests without a client', () => {
    equal(String(proxyHeader('v1', '')(to('10.0.0.2'))), 'PROXY UNKNOWN\r\n');
    equal(Buffer.from(proxyHeader('v2', '')(to('10.0.0.2'))).toString('hex'), '0d0a0d0a000d0a515549540a20000000');
  });
  it('never contains text that is not an address', () => {
    for (const text of ['evil\r\nGET / HTTP/1.1', 'fe80::1%eth0', '1.2.3', 'localhost']) {
      equal(String(proxyHeader('v1', text)(to('10.0.0.2'))), 'PROXY UNKNOWN\r\n');
    }
  });
  for (const address of ['203.0.113.7', '::', '::1', '2001:db8::7', '2001:db8:1:2:3:4:5:6', '1::', 'fd00:0:0:1::9']) {
    for (const version of ['v1', 'v2'] as const) {
      it(`of ${version} can be read by the gateway: ${address}`, () => {
        const bytes = Buffer.from(proxyHeader(version, address)(to('10.0.0.2')));
        const family = address.includes(':') ? 'IPv6' : 'IPv4';
        deepEqual(parseProxyHeader(bytes), { length: bytes.length, client: { address, port: 0, family } });
      });
    }
  }
});

describe('backend connections with the PROXY protocol', () => {
  let bench: Bench;
  /** First line of each connection, in order. */
  let lines: string[];
  beforeEach(() => {
    bench = new Bench();
    lines = [];
  });
  afterEach(() => bench.close());

  /** A backend that reads a header of version 1 on each connection, and responds to each request. */
  const serve = (headFor: (request: string) => string = () => 'HTTP/1.1 200 OK\r\n') =>
    bench.listen(
      createServer((socket) => {
        let text = '';
        let isAnnounced = false;
        socket.on('error', () => {});
        socket.on('data', (chunk) => {
          text += String(chunk);
          if (!isAnnounced) {
            const end = text.indexOf('\r\n');
            if (end < 0) return;
            lines.push(text.slice(0, end));
            text = text.slice(end + 2);
            isAnnounced = true;
          }
          if (!text.includes('\r\n\r\n')) return;
          socket.write(`${headFor(text)}Content-Length: 2\r\n\r\nok`);
          text = '';
        });
      }),
    );
  const request = (origin: string, ip: string): PipeRequest => {
    const made = new PipeRequest(makeRequest({ ip }), {}, new Query(), new HeaderBag(), null);
    made.origin = origin;
    made.target = '/';
    return made;
  };

  it('belong to one client each, and are reused for its later requests only', async () => {
    const origin = await serve();
    const gate = await bench.client({ proxy_protocol: 'v1' });
    const { call } = gate.attached.protocol!;
    for (const ip of ['203.0.113.1', '203.0.113.2', '203.0.113.1', '', '203.0.113.2', '']) {
      equal(await textOf(await call(request(origin, ip), new Call())), 'ok');
    }
    const { port } = new URL(origin);
    deepEqual(lines, [
      `PROXY TCP4 203.0.113.1 127.0.0.1 0 ${port}`,
      `PROXY TCP4 203.0.113.2 127.0.0.1 0 ${port}`,
      'PROXY UNKNOWN',
    ]);
  });

  it('do not announce clients to servers that a redirect leads to', async () => {
    const other = await bench.serve((_request, response) => response.end('other'));
    const origin = await serve(() => `HTTP/1.1 302 Found\r\nLocation: ${other}/\r\n`);
    const gate = await bench.client({ proxy_protocol: 'v1' });
    equal(await textOf(await gate.attached.protocol!.call(request(origin, '203.0.113.1'), new Call())), 'other');
  });

  it('are limited in number: the clients that were idle longest lose their connections', async () => {
    const origin = await serve();
    const gate = await bench.client({ proxy_protocol: 'v1' });
    const ask = async (ip: string) => textOf(await gate.attached.protocol!.call(request(origin, ip), new Call()));
    for (let client = 0; client < 300; client++) {
      await ask(`10.0.${client >> 8}.${client & 255}`);
    }
    await ask('10.0.1.43');
    await ask('10.0.0.0');
    deepEqual([lines.length, lines.at(-1)!.split(' ')[2]], [301, '10.0.0.0']);
  });

  for (const [other, value] of [
    ['http2', true],
    ['proxy_address', 'http://proxy.example.com:3128'],
    ['hide_client', true],
  ] as const) {
    it(`cannot be combined with ${other}`, async () => {
      await rejects(bench.client({ proxy_protocol: 'v2', [other]: value }), (error: ConfigErrors) => {
        const [first] = error.errors;
        deepEqual([first!.code, first!.pointer], ['PROXY_PROTOCOL_UNUSABLE', '/proxy_protocol']);
        match(first!.message, new RegExp(`cannot be combined with ${other}`));
        return true;
      });
    });
  }
});

const suite = withoutNginx ? describe.skip : describe;
suite(`nginx as a backend with the PROXY protocol${withoutNginx ? ` (${withoutNginx})` : ''}`, () => {
  const made = makeCertificates();
  const authority = made.authority('authority');
  const { certificate, privateKey } = made.issue('server', authority);
  after(() => made.remove());

  for (const version of ['v1', 'v2']) {
    for (const scheme of ['http', 'https']) {
      it(`shows the client of the gateway in version ${version} over ${scheme}`, async () => {
        const port = await freePort();
        const ssl =
          scheme === 'https'
            ? `ssl_protocols TLSv1.3; ssl_certificate ${certificate}; ssl_certificate_key ${privateKey};`
            : '';
        const stop = await startNginx(
          port,
          `http { access_log off; server {
             listen 127.0.0.1:${port} ${ssl && 'ssl'} proxy_protocol; ${ssl}
             location / { default_type application/json; return 200 '{"from":"$proxy_protocol_addr"}'; } } }`,
        );
        let gateway: Operations | null = null;
        try {
          gateway = await startGateway({
            endpoints: [
              {
                endpoint: '/',
                backend: [
                  {
                    host: [`${scheme}://localhost:${port}`],
                    url_pattern: '/',
                    extra_config: {
                      'backend/http/client': {
                        proxy_protocol: version,
                        client_tls: { ca_certs: [authority.certificate] },
                      },
                    },
                  },
                ],
              },
            ],
          });
          for (const remoteAddress of ['203.0.113.7', '203.0.113.8', '2001:db8::9']) {
            const { body } = await gateway.inject({ url: '/', remoteAddress });
            equal(body, `{"from":"${remoteAddress}"}`);
          }
        } finally {
          await gateway?.close();
          await stop();
        }
      });
    }
  }
});
