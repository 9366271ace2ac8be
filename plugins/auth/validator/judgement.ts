import type { DataObject } from '#contract';
import { authorizer } from './authorize.ts';
import { misdirected } from './claims.ts';
import type { Propagated, Propagation } from './propagate.ts';
import type { ValidatorConfig } from './schema.ts';

/** What one configuration says of a token, whenever it comes. */
export interface Judgement {
  readonly by: Judge;
  /** Why it is not for us; null when it is. */
  readonly misdirected: string | null;
  /** Why it may not call the endpoint; null when it may. */
  readonly forbidden: string | null;
  readonly headers: readonly Propagated[];
}

/** Judges claims. */
export type Judge = (claims: DataObject) => Judgement;

export function judge(config: ValidatorConfig, propagation: Propagation): Judge {
  const authorize = authorizer(config);
  const by: Judge = (claims) => ({
    by,
    misdirected: misdirected(claims, config.issuer, config.audience),
    forbidden: authorize(claims),
    headers: propagation.of(claims),
  });
  return by;
}
