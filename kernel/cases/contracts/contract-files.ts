import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '#contract';
import { replaceFile } from '../../config/index.ts';
import { findFiles, type RejectedFile, readCompiled } from '../read-tests.ts';
import { type Contract, contractKey, includeContract, printContract, toContract } from './contract.ts';
import type { Contracts } from './observation.ts';
import type { Inferring } from './to-schema.ts';

/** Contracts of a folder. */
export interface ContractFolder {
  readonly contracts: Contracts;
  /** File of each contract, by the key of the contract. */
  readonly files: ReadonlyMap<string, string>;
  readonly rejected: readonly RejectedFile[];
}

/** Reads the contracts below a folder. @throws ConfigErrors TEST_FILES if it cannot be read. */
export async function readContracts(folder: string): Promise<ContractFolder> {
  const contracts: Contracts = new Map();
  const files = new Map<string, string>();
  const rejected: RejectedFile[] = [];
  for (const path of await findFiles([folder])) {
    const read = await readCompiled(path, (data) => ({ contract: toContract(data) }));
    if ('errors' in read) {
      rejected.push(read);
      continue;
    }
    const { contract, document } = read;
    const key = contractKey(contract.method, contract.endpoint);
    const other = files.get(key);
    if (other === undefined) {
      contracts.set(key, contract);
      files.set(key, path);
    } else {
      const message = `${contract.method} ${contract.endpoint} already has a contract in ${other}`;
      rejected.push({ path, source: document, errors: [new ConfigError('CONTRACT_DUPLICATE', '/endpoint', message)] });
    }
  }
  return { contracts, files, rejected };
}

/** Settings for writing contracts. */
export interface Writing extends Inferring {
  /** Whether to add the samples to existing contracts instead of replacing them. */
  readonly merge: boolean;
}

/** Files that were written, by outcome. */
export interface Written {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
}

/**
 * Writes contracts to a folder, one file for each endpoint and method. Contracts of other endpoints in the folder are left
 * unchanged.
 * @param inferred are changed if existing samples are merged into them. @throws the file system's errors.
 */
export async function writeContracts(
  folder: string,
  inferred: Contracts,
  { contracts, files }: Pick<ContractFolder, 'contracts' | 'files'>,
  { merge, ...inferring }: Writing,
): Promise<Written> {
  const results = { added: [] as string[], changed: [] as string[], unchanged: [] as string[] };
  const taken = new Set(files.values());
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  for (const [key, contract] of [...inferred].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const known = contracts.get(key);
    const path = files.get(key) ?? freeName(folder, contract, taken);
    taken.add(path);
    if (merge && known) includeContract(contract, known);
    const isWritten = await replaceFile(path, printContract(contract, inferring));
    results[isWritten ? (files.has(key) ? 'changed' : 'added') : 'unchanged'].push(path);
  }
  return results;
}

/** Name of a new file, for example `get-users-_user.json`; with a hash of the endpoint if the name is taken. */
function freeName(folder: string, { method, endpoint }: Contract, taken: ReadonlySet<string>): string {
  const segments = endpoint.replaceAll('{', '_').replace(/[^\w.-]+/g, '-');
  const stem = `${method.toLowerCase()}${segments}`.replace(/-+$/, '').slice(0, 100);
  const path = join(folder, `${stem}.json`);
  return taken.has(path) ? join(folder, `${stem}-${hash('sha256', `${method} ${endpoint}`).slice(0, 8)}.json`) : path;
}
