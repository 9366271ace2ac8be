import { type Difference, isBreaking } from './breaks.ts';
import { compareShapes, type ShapeDifference } from './compare-shapes.ts';
import type { Contract, ContractedResponse } from './contract.ts';
import { contractOf, type Observation } from './observation.ts';

/** Responses to the same requests. */
export interface Compared {
  /** Responses before the change; empty if they are not known. */
  readonly before: readonly Observation[];
  readonly after: readonly Observation[];
}

/** Maximum number of requests that are searched for an example of a difference. */
const MAX_SEARCHED = 2000;

/** Compares the responses of an endpoint with its contract. */
export function compareContract(contract: Contract, compared: Compared): Difference[] {
  const [before, after] = [contractOf(compared.before), contractOf(compared.after)];
  if (!after) return [];
  const known = new Set(before ? differencesOf(contract, null, before).map(identity) : []);
  const endpoint = `${contract.method} ${contract.endpoint}`;
  return differencesOf(contract, before, after).map((difference) => ({
    ...difference,
    endpoint,
    isKnown: known.has(identity(difference)),
    example: isBreaking(difference) ? findExample(contract, compared, difference) : null,
  }));
}

/** Finds a request whose response alone shows a difference; null if none does. */
function findExample(
  contract: Contract,
  { before, after }: Compared,
  { kind, status, at }: StatusDifference,
): string | null {
  const earlier = new Map(before.map((observation) => [observation.example, observation]));
  // A key becomes optional because some responses lack it; each of these responses, alone, shows it as removed.
  const shown = kind === 'optional' ? 'removed' : kind;
  for (const observation of after.slice(0, MAX_SEARCHED)) {
    const old = earlier.get(observation.example);
    const alone = differencesOf(contract, old ? contractOf([old]) : null, contractOf([observation])!);
    if (alone.some((one) => one.kind === shown && one.status === status && one.at === at)) return observation.example;
  }
  return null;
}

interface StatusDifference extends ShapeDifference {
  readonly status: number;
}

const identity = ({ kind, status, at, shown }: StatusDifference): string => [kind, status, at, shown].join('\n');

function differencesOf(contract: Contract, before: Contract | null, after: Contract): StatusDifference[] {
  const results: StatusDifference[] = [];
  const report = (status: number, kind: StatusDifference['kind'], shown = '') =>
    results.push({ status, kind, at: '', shown });
  for (const [status, response] of after.responses) {
    const promised = contract.responses.get(status);
    if (!promised) {
      const statuses = [...contract.responses.keys()].sort().join(', ');
      report(status, 'status', `${statuses} → ${status}`);
      continue;
    }
    const types = changedTypes(promised, response);
    if (types !== null) report(status, 'content-type', types);
    else if (promised.shape && !response.shape) report(status, 'body');
    if (!promised.shape || !response.shape) continue;
    const old = before?.responses.get(status)?.shape ?? null;
    for (const difference of compareShapes(promised.shape, old, response.shape))
      results.push({ status, ...difference });
  }
  for (const status of contract.responses.keys()) {
    // An error status that no longer occurs does not break clients.
    if (status < 500 && before?.responses.has(status) && !after.responses.has(status)) report(status, 'no-status');
  }
  return results;
}

/** Describes a change of content types; null without one. */
function changedTypes(promised: ContractedResponse, { contentTypes }: ContractedResponse): string | null {
  const shown = (types: ReadonlySet<string>): string => [...types].sort().join(', ') || 'none';
  const isChanged =
    promised.contentTypes.size > 0 &&
    (contentTypes.size === 0 || [...contentTypes].some((type) => !promised.contentTypes.has(type)));
  return isChanged ? `${shown(promised.contentTypes)} → ${shown(contentTypes)}` : null;
}
