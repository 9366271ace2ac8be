import { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import type { ReplayOptions, ReplayResult } from '../replay/replay.ts';
import type { Traffic } from '../replay/traffic.ts';
import { type CheckResult, checkContracts } from './check-contracts.ts';
import { compareTraffic } from './compare-traffic.ts';
import type { Contract } from './contract.ts';
import { readContracts } from './contract-files.ts';

/** Result of a check in another process. */
export interface ContractsOutcome extends Pick<CheckResult, 'differences' | 'requests'> {
  readonly contracts: readonly Pick<Contract, 'method' | 'endpoint'>[];
  /** Differences between the responses of both configurations. */
  readonly replay: ReplayResult;
}

/**
 * Compares the responses to recorded requests with the contracts of a folder. @throws ConfigErrors if a file is not
 * valid.
 */
export async function checkTraffic(
  folder: string,
  traffic: Traffic,
  options: ReplayOptions,
): Promise<ContractsOutcome> {
  const { contracts, rejected } = await readContracts(folder);
  const [first] = rejected.flatMap(({ path, errors }) => errors.map(({ message }) => `${path}: ${message}`));
  if (first !== undefined) throw new ConfigErrors([new ConfigError('CONTRACTS_UNCHECKED', '', first)]);
  const compared = await compareTraffic(traffic, options);
  const { differences, requests } = checkContracts(contracts, compared);
  const names = [...contracts.values()].map(({ method, endpoint }) => ({ method, endpoint }));
  return { differences, requests, contracts: names, replay: compared.replay };
}
