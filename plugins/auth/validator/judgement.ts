import type { DataObject } from '#contract';
import { authorizer, type Rules } from './authorize.ts';
import { misdirected } from './claims.ts';
import type { Propagated, Propagation } from './propagate.ts';
import type { ValidatorConfig } from './schema.ts';

/** Time-independent result of checking a token against one configuration. */
export interface Judgement {
  readonly by: Judge;
  /** Why the token is not intended for this endpoint; null if it is. */
  readonly misdirected: string | null;
  /** Why the token may not call the endpoint; null if it may. */
  readonly forbidden: string | null;
  readonly headers: readonly Propagated[];
}

export type Judge = (claims: DataObject) => Judgement;

export function judge(config: Rules & Pick<ValidatorConfig, 'issuer' | 'audience'>, propagation: Propagation): Judge {
  const authorize = authorizer(config);
  const by: Judge = (claims) => ({
    by,
    misdirected: misdirected(claims, config.issuer, config.audience),
    forbidden: authorize(claims),
    headers: propagation.of(claims),
  });
  return by;
}
