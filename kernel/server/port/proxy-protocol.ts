import type { Socket } from 'node:net';
import type { Log, ServiceConfig } from '#contract';
import { LimitedLog } from '../../containment/limited-log.ts';
import { peerMatcher } from '../../net/address-range.ts';
import { socketAddress } from '../request/client-ip.ts';
import { readFirst } from './first-bytes.ts';
import { type ClientAddress, parseProxyHeader } from './proxy-header.ts';

/** Connections whose PROXY protocol header was missing or malformed: logged at most once a second for each proxy, and counted. */
export class HeaderFaults {
  /** Number of connections so far. */
  count = 0;
  readonly #lines: LimitedLog;

  constructor(log: Log) {
    this.#lines = new LimitedLog((line) => log.warning(line));
  }

  add(peer: string, reason: string): void {
    this.count++;
    this.#lines.write(peer, `connection from ${peer} closed: ${reason}`);
  }

  close(): void {
    this.#lines.close();
  }
}

/** Reads the header that begins a connection. */
export interface ProxyProtocol {
  /** Whether a new connection must begin with a header. */
  expects(socket: Socket): boolean;
  /** Reads the header, then gives the connection the client's address. @param done called unless the connection is closed. */
  read(socket: Socket, done: () => void): void;
}

/** @returns null when no proxy is trusted to send the header. */
export function proxyProtocol({ proxy_protocol: config }: ServiceConfig, faults: HeaderFaults): ProxyProtocol | null {
  if (!config) return null;
  const isTrusted = peerMatcher(config.trusted);
  const waitMs = config.header_timeout;
  return {
    expects: (socket) => isTrusted(socketAddress({ socket })),
    read(socket, done) {
      const peer = socketAddress({ socket }) || 'a Unix socket';
      let client: ClientAddress | null = null;
      readFirst(
        socket,
        waitMs,
        (bytes) => {
          const header = parseProxyHeader(bytes);
          if (header === null) return null;
          if (typeof header === 'string') {
            faults.add(peer, header);
            return 'wrong';
          }
          client = header.client;
          const reported = () => {
            if (client) presentAs(socket, client);
            done();
          };
          return { bytes: bytes.subarray(header.length), done: reported };
        },
        () => faults.add(peer, `no PROXY protocol header within ${waitMs} ms`),
      );
    },
  };
}

/** Address of a connection, as properties of sockets and TLS sockets. */
type Shown = Pick<Socket, 'remoteAddress' | 'remotePort' | 'remoteFamily'>;

/** Changes the address of a connection to that of the client behind a proxy, for all code that reads it. */
function presentAs(socket: Socket, { address, port, family }: ClientAddress): void {
  define(socket, { remoteAddress: address, remotePort: port, remoteFamily: family });
}

/** Gives an encrypted connection the address of the connection that carries it. */
export function inheritAddress(encrypted: Socket, carrier: Socket): void {
  if (!Object.hasOwn(carrier, 'remoteAddress')) return;
  const { remoteAddress, remotePort, remoteFamily } = carrier;
  define(encrypted, { remoteAddress, remotePort, remoteFamily });
}

function define(socket: Socket, shown: Shown): void {
  for (const [name, value] of Object.entries(shown)) Object.defineProperty(socket, name, { value, configurable: true });
}
