import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { namesIn, requestsSwitch } from '../http1/upgrade.ts';
import { readFirst } from '../port/first-bytes.ts';
import { type FirstRequest, firstSettings, PREFACE, requestFrames } from './h2c-frames.ts';

/**
 * Detects the protocol of a plain-text connection from its first bytes, HTTP/2 with prior knowledge or HTTP/1, and then
 * returns the bytes to the connection.
 * @param waitMs time limit for those bytes; 0 disables it. The connection is closed when it expires.
 */
export function detectProtocol(socket: Duplex, waitMs: number, reported: (isHttp2: boolean) => void): void {
  const mark = PREFACE.subarray(0, 3);
  readFirst(socket, waitMs, (bytes) => {
    const length = Math.min(bytes.length, mark.length);
    const isHttp2 = bytes.subarray(0, length).equals(mark.subarray(0, length));
    if (isHttp2 && length < mark.length) return null;
    return { bytes, done: () => reported(isHttp2) };
  });
}

/** Whether a request without a body requests an upgrade to HTTP/2 (RFC 7540, section 3.2). */
export function requestsHttp2(message: IncomingMessage): boolean {
  const { headers, url } = message;
  if (headers.upgrade?.toLowerCase() !== 'h2c' || typeof headers['http2-settings'] !== 'string') return false;
  if (!requestsSwitch(message) || !headers.host || !url?.startsWith('/')) return false;
  return namesIn(headers.connection!).includes('http2-settings');
}

/**
 * Switches a connection to HTTP/2. The request that asked for the upgrade becomes the first request of the new
 * connection: it is inserted between the client's settings and the client's next bytes.
 * @param head bytes received after the request.
 * @param waitMs time limit for the client's settings; 0 disables it.
 */
export function upgrade(
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  waitMs: number,
  done: () => void,
): void {
  const { method, url, headers, rawHeaders } = message;
  const request: FirstRequest = { method: method!, path: url!, authority: headers.host!, rawHeaders };
  if (head.length > 0) socket.unshift(head);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  readFirst(socket, waitMs, (bytes) => {
    const end = firstSettings(bytes);
    if (end === undefined) return null;
    if (end === 0) return 'wrong';
    return { bytes: Buffer.concat([bytes.subarray(0, end), requestFrames(request), bytes.subarray(end)]), done };
  });
}
