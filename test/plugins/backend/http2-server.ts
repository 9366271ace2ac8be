import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { KeyPair } from '../../support/certificates.ts';
import type { Bench } from './http-client.ts';

/** Handler for a request. */
export type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void;

/** An HTTP/2 server and its past connections. */
export interface TestHttp2Server {
  readonly origin: string;
  readonly sessions: ServerHttp2Session[];
  /** Open connections. */
  readonly open: Set<ServerHttp2Session>;
  /** Destroys all connections. */
  cut(): void;
}

/** TLS key and certificate. With TLS, HTTP/1.1 is offered, too, with the response `1.1`. */
export async function serveHttp2(
  bench: Bench,
  onStream: OnStream,
  { settings, pair }: { settings?: Settings; pair?: KeyPair } = {},
): Promise<TestHttp2Server> {
  const options = { maxSendHeaderBlockLength: 1024 * 1024, ...(settings && { settings }) };
  const server: Http2Server | Http2SecureServer = pair
    ? createSecureServer({ ...options, cert: pair.certificatePem, key: pair.privateKeyPem, allowHTTP1: true })
    : createServer(options);
  const sessions: ServerHttp2Session[] = [];
  const open = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('session', (session) => {
    sessions.push(session);
    open.add(session);
    session.on('error', () => {});
    session.once('close', () => open.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
    stream.on('error', () => {});
    onStream(stream, headers, raw);
  });
  if (pair) {
    server.on('request', (request, response) => {
      if (request.httpVersion === '1.1') response.end('1.1');
    });
  }
  const origin = await bench.listen(server, pair ? 'https' : 'http', pair ? 'localhost' : '127.0.0.1');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { origin, sessions, open, cut };
}

/** A handler that responds at once with a text. */
export const saying =
  (text: string): OnStream =>
  (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(text);
  };
