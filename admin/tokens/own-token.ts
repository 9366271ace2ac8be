import { randomBytes, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '#contract';
import { adminTokenFile, makeDirectory } from '#kernel';
import { tokenWithEveryScope } from './token-file.ts';
import type { TokenEntry } from './tokens.ts';

/** The token of a gateway that was given none: other for every start, and only in a file that its user can read. */
export interface OwnToken {
  readonly entry: TokenEntry;
  /** Writes its file. Never rejects: what fails is logged. @param listen address of the admin port, for the file's name. */
  publish(listen: string): Promise<void>;
}

export function createOwnToken(stateDirectory: string, log: Log): OwnToken {
  const token = randomBytes(32).toString('base64url');
  return {
    entry: tokenWithEveryScope('own', token),
    async publish(listen) {
      const file = adminTokenFile(stateDirectory, listen);
      try {
        await writePrivately(file, `${token}\n`);
        log.info(`the token of the admin API is in ${file}`);
      } catch (error) {
        log.error(`cannot store the admin token: set --state-dir or GATEWAY_ADMIN_TOKEN: ${(error as Error).message}`);
      }
    },
  };
}

/** Nobody else can read it at any moment, whatever stood there before. */
async function writePrivately(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await makeDirectory(dirname(file));
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
