import { ConfigError } from '#contract';
import { joinPointer } from '../../config/index.ts';
import { ANY, ConfigErrors } from '../../contract/internal.ts';
import type { Change } from '../../control/change.ts';
import type { Next } from '../../control/participant.ts';
import type { Snapshot } from '../../control/snapshot.ts';
import type { Operations } from '../../gateway/operations.ts';
import { replayAside } from '../replay/replay-aside.ts';
import { type Difference, describeDifference, isBreaking } from './breaks.ts';
import type { ContractsOutcome } from './check-traffic.ts';
import { contractKey } from './contract.ts';
import { removedEndpoints } from './static-differences.ts';

/** Time limit of a check before a change, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Number of recorded requests whose responses are checked. */
const REQUESTS = 200;

/**
 * Holds a new configuration to the contracts of a folder before it serves, with the latest recorded requests. Differences
 * that the serving configuration has as well are not the change's, and do not prevent it.
 */
export function rehearseContracts(
  gateway: Pick<Operations, 'recordings' | 'serving' | 'helpers'>,
  folder: string,
): NonNullable<Change['rehearse']> {
  return async (next) => {
    const outcome = await outcomeOf(gateway, folder, next);
    const removed = removedEndpoints(outcome.contracts, next.runtime.config.endpoints);
    const names = new Set(removed.map(({ endpoint }) => endpoint));
    const rest = outcome.differences.filter((each) => isBreaking(each) && !each.isKnown && !names.has(each.endpoint));
    const errors = [...removed, ...rest].map((difference) => toError(difference, next));
    if (errors.length > 0) throw new ConfigErrors(errors);
    if (outcome.requests === 0) throw failed('no recorded request reaches an endpoint with a contract');
  };
}

async function outcomeOf(
  gateway: Parameters<typeof rehearseContracts>[0],
  folder: string,
  { snapshot, signal }: Next,
): Promise<ContractsOutcome> {
  const { program, pluginFolder } = gateway.helpers;
  try {
    const har = gateway.recordings(REQUESTS);
    if (har === null) throw new Error('the active configuration does not record requests');
    const configurations = { next: sent(snapshot), baseline: sent(gateway.serving.snapshot) };
    const order = { har, ...configurations, pluginFolder, folder };
    return await replayAside('contracts', order, { program, timeoutMs: TIMEOUT_MS, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error instanceof ConfigErrors ? error.errors[0]!.message : (error as Error).message);
  }
}

function sent({ text, format }: Snapshot) {
  return { text, format };
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
