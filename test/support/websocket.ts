import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { until } from './conditions.ts';

/** One end of a WebSocket that records received messages. */
export interface TestSocket {
  readonly socket: WebSocket;
  /** Messages so far: text as text, bytes as buffers. */
  readonly messages: readonly (string | Buffer)[];
  /** Close code and reason; null while it is open. */
  readonly closed: { readonly code: number; readonly reason: string } | null;
  send(data: string | Buffer): void;
  /** The next message that was not returned yet. */
  next(): Promise<string | Buffer>;
  /** Waits until it is closed. */
  over(): Promise<{ code: number; reason: string }>;
}

/** The backend's end, and the request that opened it. */
export interface AcceptedSocket extends TestSocket {
  readonly request: IncomingMessage;
}

/** A WebSocket server on the loopback address. */
export interface TestSocketServer {
  readonly url: string;
  readonly port: number;
  /** Every connection so far, oldest first. */
  readonly sockets: readonly AcceptedSocket[];
  /** The next connection that was not returned yet. */
  next(): Promise<AcceptedSocket>;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

export interface TestSocketServerOptions {
  /** Port to listen on. Default: any free port. */
  readonly port?: number;
  /** Answers the handshake with this status. */
  readonly refuses?: number;
  /** Selects one of the subprotocols that the client offers. Default: the first. */
  readonly choose?: (offered: ReadonlySet<string>) => string | false;
  readonly accepted?: (socket: AcceptedSocket) => void;
}

export async function startSocketServer(options: TestSocketServerOptions = {}): Promise<TestSocketServer> {
  const { port = 0, refuses, choose, accepted } = options;
  const server = new WebSocketServer({
    port,
    host: '127.0.0.1',
    ...(refuses !== undefined && { verifyClient: (_info: unknown, done: Done) => done(false, refuses) }),
    ...(choose && { handleProtocols: choose }),
  });
  const sockets: AcceptedSocket[] = [];
  let given = 0;
  server.on('connection', (socket, request) => {
    const made = Object.assign(remembering(socket), { request });
    sockets.push(made);
    accepted?.(made);
  });
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${bound}`,
    port: bound,
    sockets,
    async next() {
      const at = given++;
      await until(() => sockets.length > at);
      return sockets[at]!;
    },
    async close() {
      for (const client of server.clients) client.terminate();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Done = (isGood: boolean, status: number) => void;

/** Opens a WebSocket. @throws Error with the status if it is rejected. */
export async function openSocket(
  url: string,
  { subprotocols = [], ...options }: ClientOptions & { readonly subprotocols?: string[] } = {},
): Promise<TestSocket> {
  const socket = new WebSocket(url, subprotocols, { perMessageDeflate: false, ...options });
  const made = remembering(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return made;
}

/** Opens a connection and returns the status with which the upgrade is rejected. */
export async function refusalOf(url: string, options: ClientOptions = {}): Promise<number> {
  const socket = new WebSocket(url, options);
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  socket.terminate();
  return response.statusCode!;
}

function remembering(socket: WebSocket): TestSocket {
  const messages: (string | Buffer)[] = [];
  let given = 0;
  let closed: { code: number; reason: string } | null = null;
  socket.on('error', () => {});
  socket.on('message', (data, isBinary) => messages.push(isBinary ? (data as Buffer) : String(data)));
  socket.on('close', (code, reason) => {
    closed = { code, reason: String(reason) };
  });
  return {
    socket,
    messages,
    get closed() {
      return closed;
    },
    send: (data) => socket.send(data, { binary: typeof data !== 'string' }),
    async next() {
      const at = given++;
      await until(() => messages.length > at || closed !== null);
      if (messages.length <= at) throw new Error(`closed with ${closed?.code}`);
      return messages[at]!;
    },
    async over() {
      await until(() => closed !== null);
      return closed!;
    },
  };
}
