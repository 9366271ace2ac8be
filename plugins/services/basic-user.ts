import { defineSlot } from '#contract';

/** Who a request is from, where Basic authentication has found out; for logs and policies. */
export const basicUserSlot = defineSlot<string>('basic_user');
