import { randomBytes, randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '#contract';
import { adminTokenFile, makeDirectory } from '#kernel';
import { watchTokenFile } from './token-file.ts';
import type { TokenEntry } from './tokens.ts';

/**
 * The token that a gateway generates if no token is configured, kept in a file of the state directory that only its
 * user can read. Later starts at the same address reuse it. Without the file the token is not valid; the next reload or
 * start creates another.
 */
export interface OwnToken {
  /** Returns the token; empty until its file was found or created, and while the file cannot be read. */
  entries(): Promise<readonly TokenEntry[]>;
  /** Finds or creates the file. Never rejects: failures are logged. @param listen address of the admin port, for the file's name. */
  settle(listen: string): Promise<void>;
}

export function createOwnToken(stateDirectory: string, log: Log): OwnToken {
  let current: string | null = null;
  let read: OwnToken['entries'] = async () => [];
  return {
    entries: () => read(),
    async settle(listen) {
      const file = adminTokenFile(stateDirectory, listen);
      const state = await stateOf(file);
      if (state === 'private' && file === current) return;
      if (state === 'unsafe')
        log.warning(`replacing ${file}: it must be a non-empty file with mode 0600 that this user owns`);
      try {
        if (state !== 'private') await writePrivately(file, await tokenOf(current === file ? null : current));
        current = file;
        read = watchTokenFile(file, log, 'own');
        log.info(`the token of the admin API is in ${file}`);
      } catch (error) {
        log.error(`cannot store the admin token: set --state-dir or GATEWAY_ADMIN_TOKEN: ${(error as Error).message}`);
      }
    },
  };
}

/** @param file token file of the admin port's previous address, if any: its token stays valid at the new address. */
async function tokenOf(file: string | null): Promise<string> {
  const another = () => `${randomBytes(32).toString('base64url')}\n`;
  return file === null ? another() : readFile(file, 'utf8').catch(another);
}

/** True for a file with a token that no other account could have read or written. */
async function stateOf(file: string): Promise<'missing' | 'unsafe' | 'private'> {
  const stats = await lstat(file).catch(() => null);
  if (!stats) return 'missing';
  if (!stats.isFile() || stats.size === 0) return 'unsafe';
  // On Windows, `getuid` and permissions of this kind do not exist.
  const user = process.getuid?.();
  return user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0) ? 'private' : 'unsafe';
}

/** Writes a file that other accounts cannot read at any moment, even if the file exists already. */
async function writePrivately(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await makeDirectory(dirname(file));
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}
