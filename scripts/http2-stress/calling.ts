import { type ClientHttp2Stream, constants } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { outliveClientStreams } from '../../kernel/net/outlive-streams.ts';
import { Connection } from '../../plugins/clients/http2/connection.ts';
import { makeCertificates } from '../../test/support/certificates.ts';
import { type Chance, chanceFrom } from '../../test/support/chance.ts';
import { collect, inLanes, someTime } from './moments.ts';
import { converse, opening, RESPONSE } from './peer.ts';

/** Body that exceeds the buffers of a loopback connection. */
const LARGE = Buffer.alloc(8 * 1024 * 1024);

/** Ways in which the gateway ends a call and its connection. */
const endings: readonly ((connection: Connection, stream: ClientHttp2Stream, socket: Socket) => void)[] = [
  () => {},
  (_, stream) => stream.close(constants.NGHTTP2_CANCEL),
  (_, stream) => stream.destroy(),
  (connection) => connection.close(),
  (connection) => connection.destroy(new Error('ended')),
  (_, _stream, socket) => socket.destroy(),
  (connection) => connection.suspect(),
];

async function call(socket: Socket, origin: string, chance: Chance): Promise<void> {
  const connection = new Connection({ socket, origin, timeoutMs: 50, streamWindowBytes: 65_535 }, () => {});
  await someTime(chance);
  if (connection.failure) return;
  let stream: ClientHttp2Stream;
  try {
    stream = connection.open({ ':path': '/', ':method': 'POST' });
  } catch {
    return;
  }
  stream.on('error', () => {}).once('close', () => connection.leave());
  if (chance.below(2) === 0) stream.resume();
  const act = (): void => chance.pick(endings)(connection, stream, socket);
  const event = chance.pick(['', '', 'response', 'trailers', 'frameError', 'end', 'close', 'aborted', 'data']);
  if (event !== '') stream.once(event, act);
  await someTime(chance);
  if (chance.below(3) > 0) stream.write(chance.pick([LARGE, LARGE, Buffer.alloc(10)]));
  await someTime(chance);
  await someTime(chance);
  act();
  collect(chance, 60);
  await someTime(chance);
  connection.destroy(new Error('over'));
  collect(chance, 60);
}

/** Opens connections of the gateway's HTTP/2 client, which end in every state. @param isTls over TLS. */
export async function stressClient(seed: number, connections: number, isTls: boolean): Promise<void> {
  outliveClientStreams();
  const chance = chanceFrom(seed);
  const certificates = makeCertificates();
  const pair = certificates.issue('backend', certificates.authority('authority'));
  certificates.remove();
  const accept = (socket: Socket) =>
    void converse(
      chance,
      socket.on('error', () => {}),
      socket,
      opening(false),
      RESPONSE,
    );
  const server = isTls
    ? createTlsServer({ cert: pair.certificatePem, key: pair.privateKeyPem, ALPNProtocols: ['h2'] }, accept)
    : createServer(accept);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const open = (): Socket =>
    isTls ? connectTls({ port, ALPNProtocols: ['h2'], rejectUnauthorized: false }) : connect(port, '127.0.0.1');
  await inLanes(connections, async () => {
    await call(open(), `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`, chance);
    collect(chance, 60);
  });
  server.close();
}
