import { deepEqual, equal } from 'node:assert/strict';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { atBackend, Call, definePlugin, type HttpSigner, httpSigners, offer } from '#contract';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { Bench, pipeRequest, send, textOf } from './http-client.ts';

describe('a Host header for backend/http/client', () => {
  const bench = new Bench();
  let made: Certificates;

  before(() => {
    made = makeCertificates();
  });
  after(() => made.remove());
  afterEach(() => bench.close());

  const withHost = (origin: string, host: string | null, target = '/') =>
    Object.assign(pipeRequest({ origin, target }), { host });

  it('replaces the host of the URL', async () => {
    const seen: string[] = [];
    const origin = await bench.serve(({ rawHeaders }, response) => {
      seen.push(...rawHeaders.filter((_, at) => /^host$/i.test(rawHeaders[at - (at % 2)]!)));
      response.end();
    });
    const gate = await bench.client();
    for (const host of ['v.example', null]) {
      const reply = await gate.attached.protocol!.call(withHost(origin, host), new Call());
      equal(await textOf(reply), '');
    }
    deepEqual(seen, ['Host', 'v.example', 'Host', new URL(origin).host]);
  });

  it('is kept for redirects to the same address and dropped for others', async () => {
    const hosts: (string | undefined)[] = [];
    const other = await bench.serve((request, response) => {
      hosts.push(request.headers.host);
      response.end();
    });
    const origin = await bench.serve((request, response) => {
      hosts.push(request.headers.host);
      const location = request.url === '/a' ? '/b' : other;
      response.writeHead(302, { location }).end();
    });
    const gate = await bench.client();
    await gate.attached.protocol!.call(withHost(origin, 'v.example', '/a'), new Call());
    deepEqual(hosts, ['v.example', 'v.example', new URL(other).host]);
  });

  it('affects neither the TLS server name nor the certificate check, and opens no other connection', async () => {
    const authority = made.authority('authority');
    const { certificatePem: cert, privateKeyPem: key } = made.issue('server', authority);
    const names: unknown[] = [];
    const ports = new Set<number | undefined>();
    const server = createServer({ cert, key }, (request, response) => {
      names.push((request.socket as TLSSocket & { servername?: unknown }).servername, request.headers.host);
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    const origin = await bench.listen(server, 'https', 'localhost');
    const gate = await bench.client({ client_tls: { ca_certs: [authority.certificate] } });
    for (const host of ['v.example', null, 'w.example']) {
      const reply = await gate.attached.protocol!.call(withHost(origin, host), new Call());
      equal(await textOf(reply), 'ok');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { host } = new URL(origin);
    deepEqual(names, ['localhost', 'v.example', 'localhost', host, 'localhost', 'w.example']);
    equal(ports.size, 1);
  });

  it('is visible to request signers', async () => {
    const hosts: string[] = [];
    const signer: HttpSigner = { sign: ({ host }) => void hosts.push(host) };
    const plugin = definePlugin({
      name: 'test/signer',
      description: 'Signs.',
      offers: [httpSigners],
      places: [atBackend({ type: 'object', properties: {} }, () => ({ offers: [offer(httpSigners, signer)] }))],
    });
    const origin = await bench.serve((_request, response) => response.end());
    const gate = await bench.client({}, { plugins: [plugin], offers: [offer(httpSigners, signer)] });
    await gate.attached.protocol!.call(withHost(origin, 'v.example'), new Call());
    await send(gate, { origin });
    deepEqual(hosts, ['v.example', new URL(origin).host]);
  });
});
