import { atBackend, atEndpoint, definePlugin } from '#contract';
import { attachBackend } from './backend.ts';
import { attachEndpoint } from './endpoint.ts';
import { meaning } from './meaning.ts';
import { backendProxySchema, endpointProxySchema } from './schema.ts';

export const plugin = definePlugin({
  name: 'proxy',
  description:
    'Configures how backends are called and their responses merged: sequences, combiners, reshaping, static data, shadow traffic.',
  freeKeys: true,
  leaves: ['requests'],
  meaning,
  places: [atEndpoint(endpointProxySchema, attachEndpoint), atBackend(backendProxySchema, attachBackend)],
});
