import { defineSlot } from '#contract';

/** User authenticated by Basic authentication; for logs and policies. */
export const basicUserSlot = defineSlot<string>('basic_user');
