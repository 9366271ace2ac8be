import { type Call, claimsSlot, type Data, getKey, getPath } from '#contract';
import { matcherOf } from './name-pattern.ts';
import type { UpstreamConfig } from './schema.ts';

/** Decides whether the caller's claims allow a tool. @param name name of the tool at the upstream server. */
export type Allows = (name: string, call: Call) => boolean;

/** Compiles the rules. Callers without claims satisfy none. */
export function claimRules(rules: UpstreamConfig['require_claims']): Allows {
  const compiled = rules.map(({ claim, values, tools }) => ({
    applies: matcherOf(tools),
    path: claim.split('.'),
    claim,
    accepted: new Set(values),
  }));
  return (name, call) =>
    compiled.every(({ applies, claim, path, accepted }) => {
      if (!applies(name)) return true;
      const claims = call.get(claimsSlot);
      return (
        claims !== undefined && textsOf(getKey(claims, claim) ?? getPath(claims, path)).some((x) => accepted.has(x))
      );
    });
}

/** Returns a text and its words, the elements of a list, or another single value as text. */
function textsOf(value: Data | undefined): readonly string[] {
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string');
  if (typeof value === 'string') return [value, ...value.split(' ')];
  return typeof value === 'boolean' || typeof value === 'number' ? [String(value)] : [];
}
