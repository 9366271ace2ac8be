import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type SessionOptions,
} from 'node:http2';
import { type RequestOptions, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Gateway, GatewayOptions } from '../../../kernel/sluice.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { type Answering, json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

/** Response to a client over HTTP/2. */
export interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Gateways that speak TLS or HTTP/2, their backends and their clients; `close` ends all of them. */
export class Secure {
  readonly made: Certificates = makeCertificates();
  readonly authority: KeyPair = this.made.authority('authority');
  readonly server: KeyPair = this.made.issue('server', this.authority);
  readonly #gateways: Gateway[] = [];
  readonly #backends: TestBackend[] = [];
  readonly #sessions: ClientHttp2Session[] = [];
  readonly #sockets: Socket[] = [];

  /** A listening gateway with the endpoint `/a`, whose backend responds with `{"a":1}` by default. */
  async listen(config: object = {}, options?: GatewayOptions): Promise<{ gateway: Gateway; port: number }> {
    const backend = await this.backend(json({ a: 1 }));
    const endpoints = [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    const gateway = await startGateway({ endpoints, ...config }, options);
    this.#gateways.push(gateway);
    return { gateway, port: (await gateway.listen()).port };
  }

  async backend(respond: Answering): Promise<TestBackend> {
    const backend = await startBackend(respond);
    this.#backends.push(backend);
    return backend;
  }

  /** The `tls` settings with this certificate pair, or with the server's. */
  tls(fields: object = {}, ...pairs: KeyPair[]): { tls: object } {
    const list = pairs.length > 0 ? pairs : [this.server];
    return {
      tls: {
        keys: list.map(({ certificate, privateKey }) => ({ public_key: certificate, private_key: privateKey })),
        ...fields,
      },
    };
  }

  /** The status of `GET` over HTTP/1.1 and TLS, or the code of the failure. */
  get(port: number, path = '/a', options: RequestOptions = {}): Promise<number | string> {
    const ca = this.authority.certificatePem;
    return new Promise((resolve) => {
      const asked = request({ host: 'localhost', port, path, ca, agent: false, ...options }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
      });
      asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      asked.end();
    });
  }

  /** A TLS connection. Rejects if it cannot be established or the server ends it immediately. */
  handshake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
    const ca = this.authority.certificatePem;
    return new Promise((resolve, reject) => {
      const socket = connect({ host: 'localhost', port, ca, servername: 'localhost', ...options });
      this.#sockets.push(socket);
      socket.once('secureConnect', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  /** The name in the certificate presented for `servername`; undefined requests none. */
  async shown(port: number, servername: string | undefined): Promise<string> {
    const options = servername === undefined ? { servername: '' } : { servername };
    const socket = await this.handshake(port, { rejectUnauthorized: false, ...options });
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return String(CN);
  }

  /** A plain connection. */
  dial(port: number): Socket {
    const socket = connectTcp(port, 'localhost');
    socket.on('error', () => {});
    this.#sockets.push(socket);
    return socket;
  }

  /** An HTTP/2 session: over TLS, or in clear text with prior knowledge. */
  session(port: number, scheme: 'http' | 'https' = 'https', options: SessionOptions = {}): ClientHttp2Session {
    const session = connectHttp2(`${scheme}://localhost:${port}`, { ca: this.authority.certificatePem, ...options });
    session.on('error', () => {});
    this.#sessions.push(session);
    return session;
  }

  /** The errors of a rejected configuration: code, pointer and message. */
  async refused(config: object): Promise<[string, string, string][]> {
    try {
      await startGateway(config);
    } catch (error) {
      return (error as ConfigErrors).errors.map(({ code, pointer, message }) => [code, pointer, message]);
    }
    return [];
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.splice(0)) session.destroy();
    for (const socket of this.#sockets.splice(0)) socket.destroy();
    await Promise.all(this.#gateways.splice(0).map((gateway) => gateway.close()));
    await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
  }
}

/** Sends one request over an HTTP/2 session. */
export function ask(
  session: ClientHttp2Session,
  headers: Record<string, string | string[]>,
  body?: string,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let response: IncomingHttpHeaders = {};
    let text = '';
    stream.setEncoding('utf8');
    stream.once('response', (received) => {
      response = received;
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.once('error', reject);
    stream.once('end', () => resolve({ headers: response, body: text }));
    if (body !== undefined) stream.end(body);
  });
}

/** Waits for an expected event. */
export function once(emitter: NodeJS.EventEmitter, event: string): Promise<unknown> {
  return new Promise((resolve) => emitter.once(event, resolve));
}
