import type { Change } from '../../control/change.ts';
import type { ContractsOutcome } from '../contracts/check-traffic.ts';
import { type RehearsingGateway, rehearseAside } from './rehearse-aside.ts';
import { REQUESTS, rehearseContracts } from './rehearse-contracts.ts';
import { type RehearsalOptions, rehearseReplay } from './rehearse-replay.ts';

/**
 * Replays recorded requests before a change, and holds the responses to the contracts of a folder. The requests are
 * replayed once for both, unless fewer of them are to be replayed than are checked.
 */
export function rehearseBoth(
  gateway: RehearsingGateway,
  options: RehearsalOptions,
  folder: string,
): NonNullable<Change['rehearse']> {
  return async (next, attempt) => {
    let outcome: Promise<ContractsOutcome> | null = null;
    const { count } = options;
    const run = (): Promise<ContractsOutcome> => {
      outcome ??= rehearseAside(gateway, next, { task: 'contracts', count, input: { folder } });
      return outcome;
    };
    const isShared = count >= REQUESTS;
    const replayed = isShared ? async () => (await run()).replay : undefined;
    await rehearseReplay(gateway, options, replayed)(next, attempt);
    await rehearseContracts(gateway, folder, isShared ? run : undefined)(next, attempt);
  };
}
