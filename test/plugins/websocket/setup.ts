import type { Operations } from '#kernel';
import type { GatewayOptions } from '../../../kernel/sluice.ts';
import { rememberingSinks, startGateway } from '../../support/gateway.ts';
import {
  openSocket,
  startSocketServer,
  type TestSocket,
  type TestSocketServer,
  type TestSocketServerOptions,
} from '../../support/websocket.ts';

/** Configuration of an endpoint in addition to `websocket`. */
export interface Written {
  readonly websocket?: object;
  readonly endpoint?: object;
  readonly backend?: object;
  readonly extra?: object;
  readonly root?: object;
}

/** A gateway in front of a WebSocket backend, and everything that its test opens. */
export class Stage {
  gateway!: Operations;
  port = 0;
  lines: readonly string[] = [];
  readonly #opened: TestSocket[] = [];
  readonly #servers: TestSocketServer[] = [];

  async backend(options?: TestSocketServerOptions): Promise<TestSocketServer> {
    const server = await startSocketServer(options);
    this.#servers.push(server);
    return server;
  }

  async start(config: object, options: GatewayOptions = {}): Promise<void> {
    const sinks = rememberingSinks();
    this.lines = sinks.lines;
    this.gateway = await startGateway(config, { sinks, ...options });
    ({ port: this.port } = await this.gateway.listen());
  }

  /** A client of the gateway. */
  async open(path: string, options?: Parameters<typeof openSocket>[1]): Promise<TestSocket> {
    const client = await openSocket(this.url(path), options);
    this.#opened.push(client);
    return client;
  }

  url(path: string): string {
    return `ws://127.0.0.1:${this.port}${path}`;
  }

  async close(): Promise<void> {
    for (const { socket } of this.#opened.splice(0)) socket.terminate();
    await this.gateway?.close();
    for (const server of this.#servers.splice(0)) await server.close();
  }
}

/** One endpoint, `/chat/{room}`, in front of a backend. */
export function configOf(host: string | string[], written: Written = {}): object {
  const { websocket, endpoint, backend, extra, root } = written;
  return {
    version: 3,
    ...root,
    extra_config: { 'admin/reload': { stream_drain: '1ms' }, ...(root as { extra_config?: object })?.extra_config },
    endpoints: [
      {
        endpoint: '/chat/{room}',
        ...endpoint,
        extra_config: { websocket: { ...websocket }, ...extra },
        backend: [{ host: [host].flat(), disable_host_sanitize: true, url_pattern: '/rooms/{room}', ...backend }],
      },
    ],
  };
}

/** The same with a backend connection for each client. */
export function directConfig(host: string | string[], written: Written = {}): object {
  return configOf(host, { ...written, websocket: { enable_direct_communication: true, ...written.websocket } });
}
