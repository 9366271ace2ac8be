import { defineSlot } from '#contract';

/** The API key of a request, as a digest, where auth/api-keys has admitted it. */
export const apiKeySlot = defineSlot<string>('api key');
