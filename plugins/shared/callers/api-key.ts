import { defineSlot } from '#contract';

/** Digest of the API key of a request that auth/api-keys has admitted. */
export const apiKeySlot = defineSlot<string>('api key');
