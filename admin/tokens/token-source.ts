import { randomBytes, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AdminSettings, Log } from '#contract';
import { adminTokenFile, makeDirectory } from '#kernel';
import { tokenWithEveryScope, watchTokenFile } from './token-file.ts';
import { createTokens, type TokenEntry, type Tokens } from './tokens.ts';

export interface TokenSourceOptions {
  /** One token with every scope. */
  readonly token: string | undefined;
  /** File with tokens. */
  readonly tokenFile: string | undefined;
  readonly stateDirectory: string;
  readonly settings: () => AdminSettings;
  readonly log: Log;
}

/** Where tokens come from. */
export interface TokenSource {
  readonly tokens: Tokens;
  /**
   * Tells of a file that is wrong; keeps a token of its own where its user finds it, if none was given.
   * @param address of the admin port.
   */
  settle(address: string): Promise<void>;
}

/** The file of the command line, else the environment's token, else those of the configuration, else one of its own. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { token, tokenFile, stateDirectory, settings, log } = options;
  const given = givenTokens(token, tokenFile, log);
  const own = createOwnToken(stateDirectory, log);
  let settledAt: string | null = null;
  const configured = (): readonly TokenEntry[] => settings().tokens;
  return {
    tokens: createTokens(given ?? (() => (configured().length > 0 ? configured() : [own.entry]))),
    async settle(address) {
      await given?.();
      if (given || configured().length > 0 || settledAt === address) return;
      settledAt = address;
      await own.publish(address);
    },
  };
}

function givenTokens(token: string | undefined, tokenFile: string | undefined, log: Log) {
  if (tokenFile !== undefined) return watchTokenFile(tokenFile, log);
  if (token === undefined) return null;
  const entries = [tokenWithEveryScope('environment', token)];
  return () => entries;
}

/** The token of a gateway that was given none: other for every start, and only in a file that its user can read. */
export interface OwnToken {
  readonly entry: TokenEntry;
  /** Writes its file. Never rejects: what fails is logged. @param listen address of the admin port, for the file's name. */
  publish(listen: string): Promise<void>;
}

function createOwnToken(stateDirectory: string, log: Log): OwnToken {
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
