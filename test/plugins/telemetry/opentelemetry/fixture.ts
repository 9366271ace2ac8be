import type { Operations } from '#kernel';
import { freePort } from '../../../support/conditions.ts';
import { type Answering, json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { type Receiver, type ReceiverOptions, startGrpcReceiver, startHttpReceiver } from '../../../support/otlp.ts';
import { type Scraped, scrape } from '../../../support/prometheus.ts';

type Options = Parameters<typeof startGateway>[1];

/** Servers and gateways of telemetry tests, all closed with the test. */
export class Stage {
  readonly #open: { close(): Promise<unknown> }[] = [];
  backend!: TestBackend;
  gateway!: Operations;
  scrapePort = 0;
  #gatewayPort = 0;

  async startBackend(answer: Answering = json({ ok: true })): Promise<void> {
    this.backend = this.#keep(await startBackend(answer));
  }

  async httpReceiver(options?: ReceiverOptions): Promise<Receiver> {
    return this.#keep(await startHttpReceiver(options));
  }

  async grpcReceiver(options?: ReceiverOptions): Promise<Receiver> {
    return this.#keep(await startGrpcReceiver(options));
  }

  /** An endpoint `/u/{id}` for `/v1/users/{id}` with additional fields. */
  endpoint(more: Record<string, unknown> = {}, backend: Record<string, unknown> = {}): object {
    return {
      endpoint: '/u/{id}',
      ...more,
      backend: [{ host: [this.backend.url], url_pattern: '/v1/users/{id}', ...backend }],
    };
  }

  /** The scraped metrics, and the configuration of the gateway. */
  config(telemetry: Record<string, unknown> = {}, root: Record<string, unknown> = {}): Record<string, unknown> {
    const { extra_config, ...rest } = root;
    return {
      version: 3,
      name: 'shop',
      endpoints: [this.endpoint()],
      ...rest,
      extra_config: { 'telemetry/opentelemetry': this.telemetry(telemetry), ...(extra_config as object) },
    };
  }

  /** A gateway with a Prometheus port unless exporters are given. */
  telemetry({ exporters, ...more }: Record<string, unknown>): object {
    const own = { prometheus: [{ name: 'local', port: this.scrapePort, listen_ip: '127.0.0.1' }] };
    return { exporters: { ...own, ...(exporters as object) }, ...more };
  }

  async start(telemetry?: Record<string, unknown>, root?: Record<string, unknown>, options?: Options): Promise<void> {
    this.scrapePort ||= await freePort();
    this.gateway = this.#keep(await startGateway(this.config(telemetry, root), options));
    this.#gatewayPort = (await this.gateway.listen()).port;
  }

  /** Sends a request over the network. @returns its status; the body is read. */
  async ask(path: string, init: RequestInit = {}): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#gatewayPort}${path}`, init);
    await response.arrayBuffer();
    return response.status;
  }

  scrape(): Promise<Scraped> {
    return scrape(this.scrapePort);
  }

  async close(): Promise<void> {
    for (const each of this.#open.splice(0).reverse()) await each.close();
    this.scrapePort = 0;
  }

  #keep<T extends { close(): Promise<unknown> }>(value: T): T {
    this.#open.push(value);
    return value;
  }
}
