import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse, type Http2Session } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { ServiceConfig } from '#contract';
import { createHttp2 } from '../../kernel/server/http2/server.ts';
import { makeCertificates } from '../../test/support/certificates.ts';
import { chanceFrom } from '../../test/support/chance.ts';
import { collect, inLanes, someTime } from './moments.ts';
import { converse, opening, REQUEST } from './peer.ts';

/** Body that exceeds the buffers of a loopback connection. */
const LARGE = Buffer.alloc(8 * 1024 * 1024);

/** Limits that end streams and connections within a session. */
const limits = {
  send_timeout: 20,
  read_timeout: 30,
  write_timeout: 40,
  max_requests_per_connection: 2,
} as ServiceConfig;

/** Ways in which the gateway ends a request and its connection. */
const endings: readonly ((response: Http2ServerResponse, session: Http2Session | undefined) => void)[] = [
  () => {},
  ({ stream }) => stream.destroy(),
  ({ stream }) => stream.destroy(new Error('ended')),
  ({ stream }) => stream.close(constants.NGHTTP2_CANCEL),
  ({ stream }) => stream.close(constants.NGHTTP2_NO_ERROR),
  (response) => (response as unknown as ServerResponse).destroy(),
  (response) => response.end(),
  (_, session) => session?.destroy(),
  (_, session) => session?.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR),
  (_, session) => session?.close(),
];

/** Opens connections to the gateway's HTTP/2 server, which end in every state. @param isTls over TLS. */
export async function stressServer(seed: number, connections: number, isTls: boolean): Promise<void> {
  const chance = chanceFrom(seed);
  const http2 = createHttp2(
    limits,
    null,
    (_message, response) => void play(response as unknown as Http2ServerResponse),
    () => {},
  );
  async function play(response: Http2ServerResponse): Promise<void> {
    const { session } = response.stream;
    response.on('error', () => {});
    response.stream.on('error', () => {});
    await someTime(chance);
    if (chance.below(3) > 0) response.write(chance.pick([LARGE, LARGE, Buffer.alloc(10)]));
    await someTime(chance);
    if (response.stream.destroyed) return;
    chance.pick(endings)(response, session);
    collect(chance, 60);
  }
  const certificates = makeCertificates();
  const pair = certificates.issue('gateway', certificates.authority('authority'));
  certificates.remove();
  const server = isTls
    ? createTlsServer({ cert: pair.certificatePem, key: pair.privateKeyPem, ALPNProtocols: ['h2'] }, (socket) =>
        http2.take(socket.on('error', () => {})),
      ).on('tlsClientError', () => {})
    : createServer((socket) => http2.take(socket.on('error', () => {})));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await inLanes(connections, async () => {
    const tcp = connect(port, '127.0.0.1').on('error', () => {});
    const line = isTls
      ? connectTls({ socket: tcp, ALPNProtocols: ['h2'], rejectUnauthorized: false }).on('error', () => {})
      : tcp;
    await converse(chance, line, tcp, opening(true), REQUEST);
    collect(chance, 60);
    if (chance.below(200) === 0) http2.cut();
    if (chance.below(200) === 0) http2.drain();
  });
  http2.cut();
  server.close();
}
