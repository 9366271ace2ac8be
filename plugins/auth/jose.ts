import { definePlugin } from '#contract';
import { sharedAge, sharedCache, usersOfSharedCache } from './validator/shared-cache.ts';

/** Alias of `auth/validator` at the service level. */
export const plugin = definePlugin({
  name: 'auth/jose',
  description: 'Caches JWK sets for all endpoints, like auth/validator at the service level.',
  leaves: ['requests', 'data'],
  expectsBelow: usersOfSharedCache,
  independent: true,
  offers: [sharedAge],
  places: [sharedCache],
});
