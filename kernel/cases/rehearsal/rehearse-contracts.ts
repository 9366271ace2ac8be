import { ConfigError } from '#contract';
import { joinPointer } from '../../config/index.ts';
import { ANY, ConfigErrors } from '../../contract/internal.ts';
import type { Change } from '../../control/change.ts';
import type { Next } from '../../control/participant.ts';
import { type Difference, describeDifference, isBreaking } from '../contracts/breaks.ts';
import type { ContractsOutcome } from '../contracts/check-traffic.ts';
import { contractKey } from '../contracts/contract.ts';
import { removedEndpoints } from '../contracts/static-differences.ts';
import { type RehearsingGateway, rehearseAside } from './rehearse-aside.ts';

/** Checks contracts with recorded requests. */
type Run = (next: Next) => Promise<ContractsOutcome>;

/** Number of recorded requests whose responses are checked. */
export const REQUESTS = 200;

/**
 * Holds a new configuration to the contracts of a folder before it serves, with the latest recorded requests. Differences
 * that the serving configuration has as well are not the change's, and do not prevent it.
 * @param run checks the contracts. Default: in a process of its own.
 */
export function rehearseContracts(
  gateway: RehearsingGateway,
  folder: string,
  run: Run = (next) => rehearseAside(gateway, next, { task: 'contracts', count: REQUESTS, input: { folder } }),
): NonNullable<Change['rehearse']> {
  return async (next) => {
    const outcome = await outcomeOf(run, next);
    const removed = removedEndpoints(outcome.contracts, next.runtime.config.endpoints);
    const names = new Set(removed.map(({ endpoint }) => endpoint));
    const rest = outcome.differences.filter((each) => isBreaking(each) && !each.isKnown && !names.has(each.endpoint));
    const errors = [...removed, ...rest].map((difference) => toError(difference, next));
    if (errors.length > 0) throw new ConfigErrors(errors);
    if (outcome.requests === 0) throw failed('no recorded request reaches an endpoint with a contract');
  };
}

async function outcomeOf(run: Run, next: Next): Promise<ContractsOutcome> {
  try {
    return await run(next);
  } catch (error) {
    next.signal.throwIfAborted();
    throw failed(error instanceof ConfigErrors ? error.errors[0]!.message : (error as Error).message);
  }
}

function failed(reason: string): ConfigErrors {
  const hint = 'Apply the change without contracts=strict, and run sluice contracts check with a recording.';
  return new ConfigErrors([
    new ConfigError('CONTRACTS_UNCHECKED', '', `contracts cannot be checked: ${reason}`, { hint }),
  ]);
}

/** A breaking change as the reason of a rejection, at its endpoint in the new configuration. Values are omitted. */
function toError(difference: Difference, { runtime }: Next): ConfigError {
  const { endpoint, kind, shown } = difference;
  const at = endpoint.indexOf(' ');
  const [method, path] = [endpoint.slice(0, at), endpoint.slice(at + 1)];
  const keys = [contractKey(method, path), contractKey(ANY, path)];
  const position = runtime.config.endpoints.findIndex((each) => keys.includes(contractKey(each.method, each.endpoint)));
  const what = describeDifference({ ...difference, shown: valued.has(kind) ? '' : shown });
  const pointer = position < 0 ? '' : joinPointer('/endpoints', position);
  const hint = 'If this is intended, write the contract again with sluice contracts infer.';
  return new ConfigError('CONTRACT_BROKEN', pointer, `${endpoint}: ${what}`, { hint });
}

/** Kinds whose description contains a value, which may be data of clients. */
const valued: ReadonlySet<Difference['kind']> = new Set(['enum', 'no-value']);
