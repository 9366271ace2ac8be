import { type Call, isHeaderName, type Schema, type Site } from '#contract';
import { compileExpression } from '../../engines/cel/expression.ts';
import { CelError } from '../../engines/cel/language/cel-error.ts';

/** Header that contains the caller's plan. */
export const tierKeySchema = {
  type: 'string',
  minLength: 1,
  description: 'Header that contains the tier. Only its first value is used.',
  examples: ['X-Plan'],
} as const satisfies Schema;

/** Schema fields of a tier that select its plans. */
export const tierFields = {
  tier_value: {
    type: 'string',
    description:
      "Value of the tier header that selects this tier. With `policy`, a CEL expression in which `value` is the header's value. An empty text matches callers without the header.",
    default: '',
    examples: ['gold'],
  },
  tier_value_as: {
    type: 'string',
    enum: ['literal', 'policy', '*'],
    description:
      'Interpretation of tier_value: `literal` compares it with the header (case-sensitive), `policy` evaluates it as an expression, `*` ignores it and matches every caller.',
    default: 'literal',
  },
} as const satisfies Record<string, Schema>;

/** A configured tier. */
export interface TierConfig {
  readonly tier_value: string;
  readonly tier_value_as: 'literal' | 'policy' | '*';
}

/** Whether a plan matches a tier. @param value value of the header, empty if absent. */
type Matches = (value: string, call: Call) => boolean;

const variables = new Map([['value', 'string']] as const);

/**
 * Compiles the tiers of a configuration. Warnings: TIER_HIDDEN for a tier that no caller can reach.
 * @returns index of the first tier that matches a plan; -1 if none matches.
 * @throws ConfigError TIER_KEY, or a code of `compileExpression`.
 */
export function tierFinder(
  site: Site<{ readonly tier_key: string; readonly tiers: readonly TierConfig[] }>,
): (value: string, call: Call) => number {
  const { tier_key: header, tiers } = site.config;
  if (!isHeaderName(header)) throw site.fault('TIER_KEY', '/tier_key', `"${header}" is not a valid header name`);
  warnOfHidden(site, tiers);
  const all = tiers.map((tier, index) => matcherOf(site, tier, `/tiers/${index}`));
  return (value, call) => {
    for (let index = 0; index < all.length; index++) if (all[index]!(value, call)) return index;
    return -1;
  };
}

function matcherOf(site: Site<unknown>, { tier_value: plan, tier_value_as: as }: TierConfig, pointer: string): Matches {
  if (as === '*') return () => true;
  if (as === 'literal') return (value) => value === plan;
  try {
    const expression = compileExpression(plan, variables, site.use('patterns'));
    return (value, call) => {
      const verdict = expression.evaluate({ value }, Math.max(call.remainingMs, 0));
      if (typeof verdict === 'string') site.log.debug(() => `[Tier] ${pointer}: ${verdict}`);
      return verdict === true;
    };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { code, message, hint, within } = error;
    throw site.fault(code, `${pointer}/tier_value`, message, { hint, within });
  }
}

function warnOfHidden(site: Site<unknown>, tiers: readonly TierConfig[]): void {
  const all = tiers.findIndex(({ tier_value_as: as }) => as === '*');
  for (const [index, { tier_value: plan, tier_value_as: as }] of tiers.entries()) {
    const before = tiers.findIndex((tier) => tier.tier_value_as === as && tier.tier_value === plan);
    const by = all >= 0 && all < index ? all : before;
    if (by < index)
      site.warn('TIER_HIDDEN', `/tiers/${index}`, `this tier is never used: tier ${by} matches the same callers first`);
  }
}
