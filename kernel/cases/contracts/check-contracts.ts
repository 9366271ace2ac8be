import type { Difference } from './breaks.ts';
import { type Compared, compareContract } from './compare-contracts.ts';
import { byContract, type Contracts, type Observation } from './observation.ts';

/** Result of a check. */
export interface CheckResult {
  readonly differences: readonly Difference[];
  /** Number of requests whose responses were compared. */
  readonly requests: number;
  /** Number of requests whose endpoint has no contract. */
  readonly uncontracted: number;
  /** Keys of the contracts that no request has reached. */
  readonly untested: ReadonlySet<string>;
  /** Explanations of unexpected responses, with the number of requests. */
  readonly notes: ReadonlyMap<string, number>;
}

/** Maximum number of different explanations. */
const MAX_NOTES = 100;

/** Compares responses with contracts. */
export function checkContracts(contracts: Contracts, { before, after }: Compared): CheckResult {
  const [old, next] = [byContract(before), byContract(after)];
  const reached = [...next].filter(([key]) => contracts.has(key));
  const notes = new Map<string, number>();
  for (const note of reached.flatMap(([, all]) => all.flatMap((observation) => observation.notes))) {
    if (notes.size < MAX_NOTES || notes.has(note)) notes.set(note, (notes.get(note) ?? 0) + 1);
  }
  const count = (groups: Iterable<readonly [string, readonly Observation[]]>): number =>
    [...groups].reduce((sum, [, group]) => sum + group.length, 0);
  const requests = count(reached);
  return {
    differences: reached.flatMap(([key, group]) =>
      compareContract(contracts.get(key)!, { before: old.get(key) ?? [], after: group }),
    ),
    requests,
    uncontracted: count(next) - requests,
    untested: new Set([...contracts.keys()].filter((key) => !next.has(key))),
    notes,
  };
}
