import { definePlugin } from '#contract';
import { sharedAge, sharedCache, usersOfSharedCache } from './validator/shared-cache.ts';

/** Another name of `auth/validator` at the service. */
export const plugin = definePlugin({
  name: 'auth/jose',
  description: 'Keeps the keys of tokens for all endpoints, as auth/validator at the service does.',
  leaves: ['requests', 'data'],
  expectsBelow: usersOfSharedCache,
  independent: true,
  offers: [sharedAge],
  places: [sharedCache],
});
