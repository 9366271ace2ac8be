import { atBackend, atEndpoint, definePlugin } from '#contract';
import { attachBackend } from './backend.ts';
import { attachEndpoint } from './endpoint.ts';
import { meaning } from './meaning.ts';
import { backendProxySchema, endpointProxySchema } from './schema.ts';

export const plugin = definePlugin({
  name: 'proxy',
  description:
    'Tunes how backends are called and their answers made one: in sequence, merged, reshaped, with fixed data, or as shadows.',
  freeKeys: true,
  leaves: ['requests'],
  meaning,
  places: [atEndpoint(endpointProxySchema, attachEndpoint), atBackend(backendProxySchema, attachBackend)],
});
