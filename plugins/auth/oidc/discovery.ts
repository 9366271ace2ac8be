import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { type Call, FirstUse, type Log } from '#contract';
import { during } from '../../shared/calls/during.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import type { ProviderConfig } from './schema.ts';

/** The library is loaded at first use, so that processes without logins never load it. */
export const library = new FirstUse(() => import('openid-client'));

/** Time after which a failed refresh of known metadata is repeated, in milliseconds. */
const RETRY_MS = 30_000;

interface DiscoverySettings {
  readonly config: ProviderConfig;
  readonly issuer: URL;
  readonly fetch: CustomFetch;
  readonly now: () => number;
  readonly log: Log;
}

/** Discovers the metadata of a provider at first use, and again once it is older than `discovery_ttl`. */
export class Discovery {
  readonly #settings: DiscoverySettings;
  readonly #warn: ReturnType<typeof limitedWarning>;
  #pending: Promise<Configuration> | null = null;
  #known: Configuration | null = null;
  #freshUntil = 0;

  constructor(settings: DiscoverySettings) {
    this.#settings = settings;
    this.#warn = limitedWarning(settings.log, { now: settings.now });
  }

  /** Client of the provider. Concurrent calls share one discovery request. @throws `Undecided`, also as a cause; the call's abort reason. */
  client(call: Call): Promise<Configuration> {
    if (this.#known && this.#settings.now() < this.#freshUntil) return Promise.resolve(this.#known);
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = null;
    });
    return during(call, this.#pending);
  }

  async #refresh(): Promise<Configuration> {
    const { now, config } = this.#settings;
    try {
      this.#known = await this.#discover();
      this.#freshUntil = now() + config.discovery_ttl;
    } catch (error) {
      if (!this.#known) throw error;
      this.#freshUntil = now() + RETRY_MS;
      this.#warn(() => `the metadata of provider "${config.name}" is not refreshed: ${(error as Error).message}`);
    }
    return this.#known;
  }

  async #discover(): Promise<Configuration> {
    const { config, issuer, fetch } = this.#settings;
    const lib = await library.get();
    const secret = config.client_secret ?? '';
    const methods: Record<ProviderConfig['client_auth_method'], () => ClientAuth> = {
      client_secret_basic: () => lib.ClientSecretBasic(secret),
      client_secret_post: () => lib.ClientSecretPost(secret),
      none: () => lib.None(),
    };
    // Signatures of ID tokens are verified, although they come from the provider itself.
    const execute = [lib.enableNonRepudiationChecks];
    if (issuer.protocol === 'http:') execute.push(lib.allowInsecureRequests);
    const authentication = methods[config.client_auth_method]();
    const options = { [lib.customFetch]: fetch, execute };
    const client = await lib.discovery(issuer, config.client_id, {}, authentication, options);
    // The timeout of the library is disabled, because each request to the provider has its own.
    client.timeout = 0;
    return client;
  }
}
