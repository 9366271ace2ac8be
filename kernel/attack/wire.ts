import { connect, type Socket } from 'node:net';
import type { AttackRequest } from '#contract';
import { readAll, readFinal, type WireResponse } from './read-responses.ts';

/** Longest wait for a response, in milliseconds. */
const RESPONSE_MS = 10_000;

/** Interval at which a slow client sends, in milliseconds. */
const TRICKLE_MS = 50;

/** Maximum number of bytes of responses that are kept. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Result for a request without a response: the connection ended, or the time limit was exceeded. */
const none: WireResponse = { status: 0, headers: [], body: '' };

/** An HTTP/1.1 client that sends exactly the bytes that it is given. */
export class Wire {
  readonly #port: number;
  #kept: Socket | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request, if possible on the connection of the previous one. */
  async send(request: AttackRequest): Promise<WireResponse> {
    const kept = this.#kept;
    this.#kept = null;
    const socket = kept && !kept.destroyed ? kept : await this.#connect();
    const bytes = bytesOf(request);
    const response = await this.#request(socket, bytes, request.method === 'HEAD');
    // The gateway can close an idle connection at any time, even while a request is sent on it. It has not processed
    // such a request.
    return response ?? (socket === kept ? this.send(request) : none);
  }

  /** Writes bytes to a new connection, and keeps it open for a given time, during which a text is sent repeatedly. */
  async write(
    bytes: string,
    holdMs = 0,
    trickle = '',
  ): Promise<{ responses: readonly WireResponse[]; isClosed: boolean }> {
    const socket = await this.#connect();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const received = new Received(socket);
    const timer = setTimeout(() => resolve(false), holdMs || RESPONSE_MS);
    socket.once('end', () => resolve(true));
    socket.once('close', () => resolve(true));
    socket.on('error', () => {});
    if (holdMs > 0) socket.write(bytes, 'latin1');
    else socket.end(bytes, 'latin1');
    const trickling = trickle === '' ? null : setInterval(() => socket.write(trickle, 'latin1'), TRICKLE_MS);
    const isClosed = await promise;
    if (trickling) clearInterval(trickling);
    clearTimeout(timer);
    socket.destroy();
    return { responses: readAll(received.bytes), isClosed };
  }

  close(): void {
    this.#kept?.destroy();
    this.#kept = null;
  }

  #connect(): Promise<Socket> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    return promise;
  }

  /** @returns null if the connection ends without a response. */
  #request(socket: Socket, bytes: Buffer, isHead: boolean): Promise<WireResponse | null> {
    const { promise, resolve } = Promise.withResolvers<WireResponse | null>();
    const received = new Received(socket);
    const finish = (response: WireResponse | null, isKept: boolean): void => {
      clearTimeout(timer);
      received.stop();
      socket.removeAllListeners();
      // Without a listener, an error that a destroyed socket reports late would end the process.
      socket.on('error', () => {});
      if (isKept && this.#kept === null) this.#kept = socket;
      else socket.destroy();
      resolve(response);
    };
    const timer = setTimeout(() => finish(none, false), RESPONSE_MS);
    const look = (isEnded: boolean): void => {
      const read = readFinal(received.bytes, isHead, isEnded);
      if (read) finish(read.response, read.isKept && !isEnded && read.rest.length === 0);
      else if (isEnded) finish(null, false);
    };
    socket.on('data', () => look(false));
    socket.once('end', () => look(true));
    socket.once('close', () => look(true));
    socket.on('error', () => {});
    socket.write(bytes);
    return promise;
  }
}

/** The bytes that a socket has received. */
class Received {
  readonly #pieces: Buffer[] = [];
  readonly #socket: Socket;
  readonly #add = (piece: Buffer): void => {
    this.#size += piece.length;
    if (this.#size > MAX_BYTES) this.#socket.destroy();
    else this.#pieces.push(piece);
  };
  #size = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#add);
  }

  get bytes(): Buffer {
    if (this.#pieces.length > 1) this.#pieces.splice(0, this.#pieces.length, Buffer.concat(this.#pieces));
    return this.#pieces[0] ?? Buffer.alloc(0);
  }

  stop(): void {
    this.#socket.off('data', this.#add);
  }
}

/** The request as bytes: header values in Latin-1, so that any byte can be written. */
export function bytesOf(request: AttackRequest): Buffer {
  const { method, target, body } = request;
  const has = (name: string) => request.headers.some(([known]) => known.toLowerCase() === name);
  const content = body === undefined ? null : Buffer.from(body as string);
  const isFramed = has('content-length') || has('transfer-encoding');
  const headers = [
    ...(has('host') ? [] : [['Host', 'localhost'] as const]),
    ...request.headers,
    ...(content === null || isFramed ? [] : [['Content-Length', String(content.length)] as const]),
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1');
  return content === null ? head : Buffer.concat([head, content]);
}
