import { Problem } from '../problem.ts';
import type { Guard } from './guard.ts';

/** No other protocol is spoken: a WebSocket would pass what guards against foreign pages. */
export const upgradeGuard: Guard = () => (ctx) => {
  if (ctx.headers['upgrade'] !== undefined) throw new Problem('bad-request', 'no protocol to upgrade to');
};
