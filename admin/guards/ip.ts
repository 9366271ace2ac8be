import { addressMatcher } from '#contract';
import { addressOf } from '../address-of.ts';
import { Problem } from '../problem.ts';
import type { Guard } from './guard.ts';

/** Only from addresses that may connect. */
export const ipGuard: Guard = ({ allowed_ips: ranges }) => {
  if (ranges.length === 0) return () => {};
  const isAllowed = addressMatcher(ranges);
  return (ctx) => {
    const address = addressOf(ctx);
    if (address !== null && !isAllowed(address)) throw new Problem('forbidden', `${address} may not connect`);
  };
};
