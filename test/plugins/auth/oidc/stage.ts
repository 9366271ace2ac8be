import type { Operations } from '#kernel';
import type { GatewayOptions } from '../../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { TestBrowser } from './browser.ts';
import { CLIENT, startProvider, type TestProvider } from './provider.ts';

/** URL of the gateways; requests to it are passed to them in this process. */
export const base = 'https://app.test';
export const SECRET = 's'.repeat(32);

interface Settings {
  /** Component at the endpoint `/a`. */
  readonly own?: object;
  /** Other fields of that endpoint. */
  readonly endpoint?: object;
  /** Settings of the provider `main`. */
  readonly provider?: object;
  readonly session?: object;
  /** More components at the root. */
  readonly root?: object;
  /** More components at the endpoint. */
  readonly extra?: object;
  readonly endpoints?: readonly object[];
  readonly options?: GatewayOptions;
}

/** A backend, a provider and gateways between them. */
export class OidcStage {
  readonly backend: TestBackend;
  readonly provider: TestProvider;
  readonly gateways: Operations[] = [];

  private constructor(backend: TestBackend, provider: TestProvider) {
    this.backend = backend;
    this.provider = provider;
  }

  static async open(
    ...client: Parameters<typeof startProvider> extends [string, ...infer More] ? More : never
  ): Promise<OidcStage> {
    return new OidcStage(await startBackend(json({ ok: true })), await startProvider(base, ...client));
  }

  get gateway(): Operations {
    return this.gateways.at(-1)!;
  }

  browser(gateway = () => this.gateway): TestBrowser {
    return new TestBrowser(base, gateway);
  }

  config({
    own = {},
    endpoint = {},
    provider = {},
    session = {},
    root = {},
    extra = {},
    endpoints = [],
  }: Settings = {}): object {
    const client = { name: 'main', issuer: this.provider.issuer, ...CLIENT, ...provider };
    return {
      extra_config: {
        'auth/oidc': { public_url: base, providers: [client], session: { secrets: [SECRET], ...session } },
        ...root,
      },
      endpoints: [
        {
          endpoint: '/a',
          input_headers: ['*'],
          input_query_strings: ['*'],
          backend: [{ host: [this.backend.url], url_pattern: '/b' }],
          extra_config: { 'auth/oidc': own, ...extra },
          ...endpoint,
        },
        ...endpoints,
      ],
    };
  }

  async serve(settings: Settings = {}): Promise<Operations> {
    this.gateways.push(await startGateway(this.config(settings), settings.options));
    return this.gateway;
  }

  /** Number of requests to a path of the provider. */
  count(request: string): number {
    return this.provider.requests.filter((one) => one === request).length;
  }

  async close(): Promise<void> {
    for (const gateway of this.gateways) await gateway.close();
    await this.provider.close();
    await this.backend.close();
  }
}
