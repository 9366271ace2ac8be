import { type Data, printJson } from '#contract';

/** A claim as text: strings as they are, lists and objects as JSON; null is no value. */
export function printClaim(claim: Data | undefined): string | undefined {
  if (claim === undefined || claim === null) return undefined;
  return typeof claim === 'string' ? claim : printJson(claim);
}
