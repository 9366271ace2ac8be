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
import { connectionNamed, redisConnections } from '../../clients/redis/port.ts';
import { caching } from './caching.ts';
import { type Embedder, embedders } from './embedder.ts';
import { openEmbedders } from './open-embedders.ts';
import { inRedis } from './redis-responses.ts';
import { inMemory, type Responses } from './responses.ts';
import { type CacheConfig, cacheSchema, serviceSchema } from './schema.ts';

/**
 * Answers requests with the stored response of a request with nearly the same meaning.
 *
 * Configuration faults: `SEMANTIC_CACHE_NAME`, `SEMANTIC_CACHE_MODEL`, `SEMANTIC_CACHE_EMBEDDER`, `SEMANTIC_CACHE_HEADER`,
 * `ONNX_RUNTIME_MISSING`, `REDIS_CONNECTION`, `REQUEST_PART`, `AI_SERVER_ADDRESS`; warnings `SEMANTIC_CACHE_SHARED`, `AI_SERVER_INSECURE`.
 */
export const plugin = definePlugin({
  name: 'ai/semantic-cache',
  description: 'Answers requests with the stored response of a request with nearly the same meaning.',
  leaves: ['requests'],
  offers: [embedders],
  takes: [embedders, httpSigners, meters, redisConnections],
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({ offers: [offer(embedders, openEmbedders(site, site.config.embedders))] })),
    atEndpoint(cacheSchema, (site) => {
      const { endpoint, method } = site.endpoint;
      return {
        proxy: caching(site, embedderOf(site), responsesOf(site), [endpoint, method]),
        terminal: true,
        readsData: 'optional',
      };
    }),
    atBackend(cacheSchema, (site) => {
      const { endpoint, method } = site.endpoint;
      // The position of the endpoint is not part of the key: gateways that share responses can have the endpoint in
      // different positions.
      const inside = site.pointer.replace(/^\/endpoints\/\d+/, '');
      return {
        backend: caching(site, embedderOf(site), responsesOf(site), [endpoint, method, inside]),
        readsData: 'optional',
      };
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
  const { embedder: name, key_variants: variants } = site.config;
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

/** @throws ConfigError REDIS_CONNECTION */
function responsesOf(site: EndpointSite<CacheConfig>): Responses {
  const { redis_connection: name } = site.config;
  return name === undefined ? inMemory(site) : inRedis(site, connectionNamed(site, name, '/redis_connection'));
}
