import {
  atBackend,
  atEndpoint,
  atService,
  definePlugin,
  type EndpointSite,
  findNear,
  httpSigners,
  meters,
  offer,
} from '#contract';
import { caching } from './caching.ts';
import { type Embedder, embedders, openEmbedders } from './embedder.ts';
import { type CacheConfig, cacheSchema, serviceSchema } from './schema.ts';

/**
 * Answers requests with the stored response of a request with nearly the same meaning.
 *
 * Configuration faults: `SEMANTIC_CACHE_NAME`, `SEMANTIC_CACHE_MODEL`, `SEMANTIC_CACHE_EMBEDDER`, `SEMANTIC_CACHE_HEADER`,
 * `SEMANTIC_CACHE_REDIS`, `REQUEST_PART`, `AI_SERVER_ADDRESS`; warnings `SEMANTIC_CACHE_SHARED`, `AI_SERVER_INSECURE`.
 */
export const plugin = definePlugin({
  name: 'ai/semantic-cache',
  description: 'Answers requests with the stored response of a request with nearly the same meaning.',
  leaves: ['requests'],
  offers: [embedders],
  takes: [embedders, httpSigners, meters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({ offers: [offer(embedders, openEmbedders(site, site.config.embedders))] })),
    atEndpoint(cacheSchema, (site) => {
      const { endpoint, method } = site.endpoint;
      return { proxy: caching(site, embedderOf(site), [endpoint, method]), terminal: true, readsData: 'optional' };
    }),
    atBackend(cacheSchema, (site) => {
      const { endpoint, method } = site.endpoint;
      return { backend: caching(site, embedderOf(site), [endpoint, method, site.pointer]), readsData: 'optional' };
    }),
  ],
});

const authentication = [
  'auth/validator',
  'auth/introspection',
  'auth/external',
  'auth/api-keys',
  'auth/basic',
  'auth/oidc',
];

function embedderOf(site: EndpointSite<CacheConfig>): Embedder {
  const { embedder: name, redis_connection: connection, key_variants: variants } = site.config;
  if (connection !== undefined) {
    throw site.fault('SEMANTIC_CACHE_REDIS', '/redis_connection', 'responses cannot be stored in Redis', {
      hint: 'remove redis_connection: responses are stored in the memory of the gateway',
    });
  }
  if (variants.length === 0 && authentication.some((component) => component in site.endpoint.extra_config)) {
    site.warn('SEMANTIC_CACHE_SHARED', '', 'authenticated callers receive responses to requests of other callers', {
      hint: 'add the header that identifies a caller to "key_variants", for example "req_headers.Authorization"',
    });
  }
  const declared = site.take(embedders) ?? new Map<string, Embedder>();
  const embedder = declared.get(name);
  if (embedder) return embedder;
  const near = findNear(name, [...declared.keys()]);
  throw site.fault('SEMANTIC_CACHE_EMBEDDER', '/embedder', `the root declares no embedder "${name}"`, {
    hint: near
      ? `did you mean "${near.name}"?`
      : `"ai/semantic-cache": {"embedders": [{"name": "${name}", "url": "…"}]} at the root`,
  });
}
