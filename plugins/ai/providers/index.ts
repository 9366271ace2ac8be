import { atService, definePlugin, offer, type Site } from '#contract';
import { declaredProviders, type ProviderFacts } from '../lib/providers.ts';
import { addressOf } from '../llm/inventory.ts';
import { vendors } from '../llm/schema.ts';
import { type ProvidersConfig, schema } from './schema.ts';

/**
 * Declares language models once, with vendor, credentials and defaults. `ai/llm` and `ai/router` refer to them by name.
 *
 * Configuration faults: `PROVIDER_NAME`, `PROVIDER_ENDPOINT`.
 */
export const plugin = definePlugin({
  name: 'ai/providers',
  description: 'Declares language models with their credentials, to which backends refer by name.',
  freeKeys: true,
  offers: [declaredProviders],
  leaves: ['requests', 'data'],
  independent: true,
  places: [atService(schema, (site) => ({ offers: [offer(declaredProviders, providersOf(site))] }))],
});

/** @throws ConfigError PROVIDER_NAME, PROVIDER_ENDPOINT. */
function providersOf(site: Site<ProvidersConfig>): ReadonlyMap<string, ProviderFacts> {
  const providers = new Map<string, ProviderFacts>();
  for (const [index, { name, provider, model, endpoint, price }] of site.config.providers.entries()) {
    const at = `/providers/${index}`;
    if (providers.has(name)) throw site.fault('PROVIDER_NAME', `${at}/name`, `duplicate provider name "${name}"`);
    const vendor = vendors.find((each) => each.name === provider)!;
    const chosen = model ?? vendor.defaultModel;
    if (!addressOf(vendor, chosen, endpoint)) {
      throw site.fault('PROVIDER_ENDPOINT', `${at}/endpoint`, 'endpoint is not the URL of an API', {
        hint: 'Write a URL with http or https and without credentials, such as https://models.internal/v1/responses.',
      });
    }
    providers.set(name, { vendor: provider, model: chosen, price });
  }
  return providers;
}
