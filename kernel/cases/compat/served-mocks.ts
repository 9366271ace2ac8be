import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError, type SandboxRequest, type SandboxResponse } from '#contract';
import type { Session } from '../../sandbox/session.ts';
import type { TestResponse } from '../test.ts';

/** Maximum size of a request to a mocked backend, in bytes. Longer ones lose their connection. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Maximum number of backends, each of which has a port of its own. */
const MAX_ORIGINS = 1000;

/** Time after which a backend that never responds closes the connection, in milliseconds. */
const MAX_SILENCE_MS = 60_000;

/** Addresses at which the mocked backends are served. */
export interface Binding {
  readonly host: string;
  /** Port of the first backend; the other backends use the following ports. 0 chooses free ports. */
  readonly port: number;
  /** Host name by which the other gateway reaches them. */
  readonly advertised: string;
}

/** Addresses of mocked backends that have fixed ports. */
export function addressesOf(origins: readonly string[], { port, advertised }: Binding): Map<string, string> {
  return new Map(origins.map((origin, at) => [origin, addressOf(advertised, port + at)]));
}

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Mocked backends that another gateway reaches over HTTP: a port for each address of the configuration. */
export class ServedMocks {
  /** Answers requests; changed for each case. */
  session: Session;
  /** Address of each mocked origin. */
  readonly addresses = new Map<string, string>();
  readonly #servers: Server[] = [];
  #open = 0;

  private constructor(session: Session) {
    this.session = session;
  }

  /** Opens the ports. @throws ConfigError COMPAT_BACKENDS if a port cannot be opened. */
  static async open(origins: readonly string[], binding: Binding, session: Session): Promise<ServedMocks> {
    const mocks = new ServedMocks(session);
    try {
      if (origins.length > MAX_ORIGINS) throw new Error(`the configuration has more than ${MAX_ORIGINS} backends`);
      for (const [at, origin] of origins.entries()) await mocks.#serve(origin, at, binding);
    } catch (cause) {
      await mocks.close();
      const message = `cannot serve mocked backends: ${(cause as Error).message}`;
      throw new ConfigError('COMPAT_BACKENDS', '', message, { cause });
    }
    return mocks;
  }

  /** Whether no request is being answered. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Replaces the addresses of mocked backends in a text with those of the configuration. */
  original(text: string): string {
    let replaced = text;
    for (const [origin, address] of this.addresses) replaced = replaced.replaceAll(address, origin);
    return replaced;
  }

  /** Replaces the addresses of mocked backends in a response, for example in `Location` and in messages of errors. */
  originalResponse(response: TestResponse): TestResponse {
    const headers = [...response.headers].map(
      ([name, all]) => [name, all.map((value) => this.original(value))] as const,
    );
    // Latin-1 maps each byte to one character, so that bodies of any encoding stay unchanged.
    const body = Buffer.from(this.original(Buffer.from(response.body).toString('latin1')), 'latin1');
    return { ...response, headers: new Map(headers), body };
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.splice(0).map(async (server) => {
        const closed = server.listening ? once(server, 'close') : null;
        server.close();
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  async #serve(origin: string, at: number, { host, port, advertised }: Binding): Promise<void> {
    const server = createServer((request, response) => {
      this.#open++;
      response.once('close', () => this.#open--);
      this.#answer(origin, request, response).catch(() => request.socket.destroy());
    });
    this.#servers.push(server);
    server.listen(port === 0 ? 0 : port + at, host);
    await once(server, 'listening');
    const { port: opened } = server.address() as AddressInfo;
    this.addresses.set(origin, addressOf(advertised, opened));
  }

  async #answer(origin: string, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { session } = this;
    const received = await read(origin, message);
    const request = { ...received, headers: received.headers.map((text) => this.original(text)) };
    const answer = session.respond(request)!;
    const { failure } = answer;
    if (answer.delayMs > 0) await elapsed(answer.delayMs, response);
    if (failure === undefined) return write(answer, request.method, response);
    // A server cannot refuse a connection that it has already accepted; resetting it has the same effect for the
    // client.
    if (failure === 'hang' || failure === 'timeout') await elapsed(MAX_SILENCE_MS, response);
    message.socket.resetAndDestroy();
  }
}

/** Waits until a time has passed, or the connection is closed. */
async function elapsed(ms: number, response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  response.once('close', resolve);
  await promise;
  clearTimeout(timer);
}

async function read(origin: string, message: IncomingMessage): Promise<SandboxRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('the request exceeds 16 MiB');
    chunks.push(chunk);
  }
  const { method = 'GET', url = '/', rawHeaders: headers } = message;
  return { protocol: 'http', method, url: origin + url, headers, body: Buffer.concat(chunks) };
}

function write({ status, headers, body }: SandboxResponse, method: string, response: ServerResponse): void {
  // Clients repeat a request that fails on a reused connection, so each request gets a connection of its own.
  response.shouldKeepAlive = false;
  response.writeHead(status, headers as string[]);
  response.end(method === 'HEAD' ? undefined : body);
}
