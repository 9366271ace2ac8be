import type { Socket } from 'node:net';
import { addressFamily } from '#contract';

/** Versions of the PROXY protocol. */
export type ProxyVersion = 'v1' | 'v2';

/** Creates the bytes that begin a connection, once it is open. */
export type Preamble = (socket: Socket) => Uint8Array;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const LOCAL = 0x20;
const PROXY = 0x21;

/**
 * PROXY protocol header for the connections of one client. The port of the client is sent as 0, because requests from
 * all of its ports share the connections. The target is the address of the backend, or unspecified if that has another
 * address family.
 * @param client IP address of the client; any other text announces the gateway itself.
 */
export function proxyHeader(version: ProxyVersion, client: string): Preamble {
  const family = addressFamily(client);
  if (family === 0) return () => (version === 'v1' ? Buffer.from('PROXY UNKNOWN\r\n') : binary(LOCAL, 0, []));
  return ({ remoteAddress = '', remotePort = 0 }) => {
    const target = addressFamily(remoteAddress) === family ? remoteAddress : family === 4 ? '0.0.0.0' : '::';
    if (version === 'v1') return Buffer.from(`PROXY TCP${family} ${client} ${target} 0 ${remotePort}\r\n`);
    const ports = [0, 0, remotePort >> 8, remotePort & 255];
    return binary(PROXY, family === 4 ? 0x11 : 0x21, [
      ...bytesOf(client, family),
      ...bytesOf(target, family),
      ...ports,
    ]);
  };
}

function binary(command: number, family: number, block: readonly number[]): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, 0, block.length, ...block])]);
}

function bytesOf(address: string, family: 4 | 6): readonly number[] {
  if (family === 4) return address.split('.').map(Number);
  // A parsed URL contains every IPv6 address as groups of hexadecimal digits with at most one "::".
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::') as [string, string?];
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255]);
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
