import { type Client, type credentials, status } from '@grpc/grpc-js';
import type { Operations } from '#kernel';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import {
  failure,
  SHOP,
  type ShopClient,
  shopClient,
  startGrpc,
  type TestGrpcServer,
} from '../../../support/grpc/server.ts';

type Options = Parameters<typeof startGateway>[1];

/** A gateway that publishes methods of `shop.Shop` with HTTP and gRPC backends, and standard clients for it. */
export class Stage {
  readonly sinks = rememberingSinks();
  backend!: TestBackend;
  upstream!: TestGrpcServer;
  gateway!: Operations;
  port = 0;
  /** Pending responses of `/held`. */
  readonly held: (() => void)[] = [];
  readonly #clients: Client[] = [];

  async open(): Promise<void> {
    const data: Record<string, unknown> = {
      '/typed': { id: 'a', n: 'many' },
      '/note': { note: 'other' },
      '/camel': { fullName: 'Ada', small: 3, kind: 'BIG', nothing: 1 },
      '/huge': { labels: { ['x'.repeat(5000)]: 1 } },
      '/long': { note: 'x'.repeat(10_000) },
    };
    this.backend = await startBackend(({ target }, response) => {
      const [, code] = /^\/status\/(\d+)/.exec(target) ?? [];
      const answer = () => {
        response.writeHead(code ? Number(code) : 200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(data[target] ?? { id: target, unknown: 1 }));
      };
      if (target === '/held') this.held.push(answer);
      else if (target !== '/never') answer();
    });
    this.upstream = await startGrpc({
      Find: (call, answer) => {
        const { name } = call.request as { name?: string };
        if (name === 'none') answer(failure(status.NOT_FOUND, 'no such thing'));
        else if (name !== 'never') answer(null, { id: name ?? '', n: '7' });
      },
      Echo: (call, answer) => answer(null, call.request),
    });
  }

  async close(): Promise<void> {
    await this.backend.close();
    await this.upstream.close();
  }

  http(url: string, more: object = {}): object {
    return { host: [this.backend.url], url_pattern: url, ...more };
  }

  grpc(settings: object = {}, method = 'Find'): object {
    return {
      host: [this.upstream.host],
      url_pattern: `/shop.Shop/${method}`,
      extra_config: { 'backend/grpc': { use_request_body: true, ...settings } },
    };
  }

  config(methods: readonly object[], { extra_config = {}, server, ...more }: Record<string, unknown> = {}): object {
    const services = [{ name: 'shop.Shop', methods }];
    const grpc = { catalog: [SHOP], server: { services, ...(server as object) } };
    return { version: 3, ...more, extra_config: { grpc, ...(extra_config as object) } };
  }

  async start(methods: readonly object[], more?: Record<string, unknown>, options: Options = {}): Promise<ShopClient> {
    this.gateway = await startGateway(this.config(methods, more), { sinks: this.sinks, ...options });
    this.port = (await this.gateway.listen()).port;
    return this.client();
  }

  client(tls?: ReturnType<typeof credentials.createSsl>, settings?: object): ShopClient {
    const client = shopClient(`127.0.0.1:${this.port}`, tls, settings);
    this.#clients.push(client);
    return client;
  }

  async end(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close();
    for (const answer of this.held.splice(0)) answer();
    await this.gateway?.close();
    this.sinks.lines.length = 0;
  }
}

/** The method `Find` with its backends. */
export function find(...backend: readonly object[]) {
  return { name: 'Find', backend };
}
