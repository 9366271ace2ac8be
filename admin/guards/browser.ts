import { addressOf } from '../address-of.ts';
import { Problem } from '../problem.ts';
import type { Guard } from './guard.ts';

/** Only from web pages that are allowed, and never as a request that such a page cannot read the answer of. */
export const browserGuard: Guard = ({ allowed_origins: allowed }) => {
  const origins = new Set(allowed);
  return (ctx) => {
    // No browser reaches a socket file.
    if (addressOf(ctx) === null) return;
    const origin = ctx.headers['origin'];
    const isAllowed = origin !== undefined && origin !== 'null' && origins.has(origin);
    if (origin !== undefined && !isAllowed) throw new Problem('origin', `pages of ${origin} may not call this`);
    if (!isAllowed && ctx.get('sec-fetch-site') === 'cross-site')
      throw new Problem('origin', 'other sites may not call this');
    if (ctx.get('sec-fetch-mode') === 'no-cors') throw new Problem('origin', 'requests without CORS are refused');
  };
};
