import { atService, definePort, type ExpectedBelow, type Infer, offer, type Place, type Schema } from '#contract';

/** Default lifetime of a cached key, in seconds. */
export const DEFAULT_SECONDS = 900;

/** Lifetime of keys in the cache shared by all endpoints, in milliseconds. */
export const sharedAge = definePort<number>('shared key cache');

const schema = {
  type: 'object',
  title: 'Shared key cache',
  description: 'JWK cache shared by all endpoints that set "cache": true in auth/validator.',
  examples: [{ shared_cache_duration: 900 }],
  properties: {
    shared_cache_duration: {
      type: 'integer',
      minimum: 0,
      description: 'Cache lifetime of keys in seconds. 0 means 900.',
      default: 0,
      examples: [900],
    },
  },
} as const satisfies Schema;

/** Components that use the shared cache. */
export const usersOfSharedCache: ExpectedBelow = {
  component: 'auth/validator',
  suits: ({ cache, jwk_url }) => cache === true && jwk_url !== undefined,
  called: 'auth/validator with "jwk_url" and "cache": true',
};

/** The key cache shared by all endpoints, configured at the service level. */
export const sharedCache: Place = atService(schema, ({ config, log }) => {
  const { shared_cache_duration: seconds }: Infer<typeof schema> = config;
  if (seconds === 0) log.info('[SERVICE: JOSE] Empty shared_cache_duration, using default (15m)');
  return { offers: [offer(sharedAge, (seconds || DEFAULT_SECONDS) * 1000)] };
});
