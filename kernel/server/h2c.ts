import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { readFirst } from './first-bytes.ts';
import { type FirstRequest, firstSettings, PREFACE, requestFrames } from './h2c-frames.ts';
import { asksToSwitch } from './upgrade.ts';

/**
 * Waits for the first bytes of a plain connection, which tell HTTP/2 by prior knowledge from HTTP/1, and puts them back.
 * @param waitMs for those bytes; 0 for no limit. Beyond it the connection is closed.
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

/** True for a request without a body that asks to go on in HTTP/2 (RFC 7540, section 3.2). */
export function asksForHttp2(message: IncomingMessage): boolean {
  const { headers, url } = message;
  if (headers.upgrade?.toLowerCase() !== 'h2c' || typeof headers['http2-settings'] !== 'string') return false;
  if (!asksToSwitch(message) || !headers.host || !url?.startsWith('/')) return false;
  return headers
    .connection!.toLowerCase()
    .split(/\s*,\s*/)
    .includes('http2-settings');
}

/**
 * Switches a connection to HTTP/2. The request that asked for it becomes the first one of the new connection: it is put
 * in between the client's settings and what the client sends next.
 * @param head bytes that came behind the request.
 * @param waitMs for the client's settings; 0 for no limit.
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
