import { channel } from 'node:diagnostics_channel';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls, TLSSocket, type TlsOptions } from 'node:tls';
import { createGateway, type GatewayOptions } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { eventually } from './eventually.ts';

/** A server on a free port of the loopback interface. */
export interface OpenServer {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Starts a plain TCP server. */
export function startTcp(accepted: (socket: Socket) => void): Promise<OpenServer> {
  return started(createTcp(accepted));
}

/** Starts a TLS server. */
export function startTls(options: TlsOptions, accepted: (socket: Socket) => void): Promise<OpenServer> {
  const server = createTls(options, (socket) => accepted(socket.on('error', () => {})));
  return started(server.on('tlsClientError', () => {}));
}

export function startHttp(serve: RequestListener): Promise<OpenServer> {
  return started(createServer(serve));
}

async function started(server: Server): Promise<OpenServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** A gateway whose log is checked for internal errors. */
export interface Stage {
  readonly gateway: Awaited<ReturnType<typeof createGateway>>;
  readonly port: number;
  /** Lines of the access log and the application log since the last input. */
  readonly lines: string[];
  /** Waits until all requests and streams have ended. @throws Error when one remains, or when the log contains an internal error. */
  settled(patienceMs?: number): Promise<void>;
  /** Waits until all connections of clients are closed. @throws Error when one remains. */
  left(): Promise<void>;
}

/** Open connections of clients, by the port of their gateway. */
const connections = new Map<number, Set<Socket>>();

// Node.js publishes this event for each connection that a server of this process accepts.
channel('net.server.socket').subscribe((message) => {
  const { socket } = message as { socket: Socket };
  const sockets = connections.get(socket.localPort ?? 0);
  if (!sockets) return;
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

export async function openStage(config: object): Promise<Stage> {
  const lines: string[] = [];
  const sink = { terminal: false, lost: 0, write: (line: string) => void lines.push(line) };
  const sinks: NonNullable<GatewayOptions['sinks']> = { ...silentSinks, stdout: sink, stderr: sink };
  const gateway = await createGateway({ version: 3, port: 0, listen_ip: '127.0.0.1', ...config } as never, { sinks });
  const { port } = await gateway.listen();
  const sockets = new Set<Socket>();
  connections.set(port, sockets);
  return {
    gateway,
    port,
    lines,
    async settled(patienceMs) {
      await eventually(
        () => gateway.status.calls + gateway.status.streams === 0,
        () => `${gateway.status.calls} requests and ${gateway.status.streams} streams stay`,
        patienceMs,
      );
      const internal = lines.find((line) => /\n\s+at /.test(line) || line.includes('GATEWAY_FAULT'));
      if (internal) throw new Error(`internal error: ${internal}`);
    },
    async left() {
      try {
        await eventually(
          () => sockets.size === 0,
          () => `${sockets.size} connections stay`,
        );
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  };
}

/** Resets a connection. Node.js never closes a socket that is reset while it ends, and cannot reset TLS. */
export function reset(socket: Socket): void {
  if (socket.writableEnded || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
