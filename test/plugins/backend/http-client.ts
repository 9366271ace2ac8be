import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ByteStream, Call, HeaderBag, makeRequest, PipeRequest, Query, type Reply, RequestBody } from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/backend/http/client/index.ts';

/** A call to be made. */
export interface Sent {
  readonly origin: string;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: string[];
  readonly body?: RequestBody | string;
  readonly call?: Call;
}

/** The client under test and the servers it calls; all closed by `close`. */
export class Bench {
  #closers: (() => unknown)[] = [];

  /** A web server. @returns its address. */
  async serve(listener: RequestListener): Promise<string> {
    return this.listen(createServer(listener));
  }

  /** A server that writes raw bytes to each connection after it received the first bytes. */
  async serveRaw(onRequest: (socket: Socket, request: string) => void): Promise<string> {
    return this.listen(
      createRawServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', (data) => onRequest(socket, String(data)));
      }),
    );
  }

  async listen(server: Server, scheme = 'http', host = '127.0.0.1'): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#closers.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return `${scheme}://${host}:${(server.address() as AddressInfo).port}`;
  }

  async client(config: unknown = {}, around: HarnessOptions = {}): Promise<Harness> {
    const gate = await openHarness(plugin, 'backend', config, around);
    this.#closers.push(() => gate.close());
    return gate;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    this.#closers = [];
  }
}

/** Sends a request through the protocol of an attached client. */
export async function send(gate: Harness, sent: Sent): Promise<Reply> {
  return gate.attached.protocol!.call(pipeRequest(sent), sent.call ?? new Call());
}

export function pipeRequest({ origin, method = 'GET', target = '/', headers = [], body }: Sent): PipeRequest {
  const whole = typeof body === 'string' ? RequestBody.of(body) : (body ?? null);
  const client = makeRequest({ method, ip: '127.0.0.1', host: 'gateway.test', body: whole });
  const request = new PipeRequest(client, {}, new Query(), new HeaderBag(headers), client.body);
  request.origin = origin;
  request.target = target;
  return request;
}

/** The whole body of a response. */
export async function textOf(reply: Reply): Promise<string> {
  const { body } = reply;
  if (body === null) return '';
  return Buffer.from(body instanceof ByteStream ? await body.collect(1 << 30) : body).toString();
}

/** The only error of a failed response. */
export function errorOf(reply: Reply): { code: string; message: string } {
  if (!reply.failed) throw new Error(`not failed: ${reply.status}`);
  return reply.errors[0]!;
}

/** The whole body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

/** Waits until a connection is free for the next call after its response ended. */
export async function connectionFree(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A request body that has not arrived completely. */
export function streamBody(pieces: string[], length?: number): RequestBody {
  return RequestBody.stream(Readable.from(pieces.map((piece) => Buffer.from(piece))), length);
}
