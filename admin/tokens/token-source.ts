import type { AdminSettings, Log } from '#contract';
import { createOwnToken } from './own-token.ts';
import { tokenWithEveryScope, watchTokenFile } from './token-file.ts';
import { createTokens, type TokenEntry, type Tokens } from './tokens.ts';

export interface TokenSourceOptions {
  /** One token with all scopes. */
  readonly token: string | undefined;
  /** File with tokens. */
  readonly tokenFile: string | undefined;
  readonly stateDirectory: string;
  readonly settings: () => AdminSettings;
  readonly log: Log;
}

/** Source of the accepted tokens. */
export interface TokenSource {
  readonly tokens: Tokens;
  /**
   * Logs an error if the token file is not valid. If no tokens were given, finds or creates the gateway's own token.
   * @param address of the admin port.
   */
  settle(address: string): Promise<void>;
}

/** Uses the command line's file, else the environment's token, else the configuration's tokens, else a generated one. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { token, tokenFile, stateDirectory, settings, log } = options;
  const given = givenTokens(token, tokenFile, log);
  const own = createOwnToken(stateDirectory, log);
  const configured = (): readonly TokenEntry[] => settings().tokens;
  return {
    tokens: createTokens(given ?? (() => (configured().length > 0 ? configured() : own.entries()))),
    async settle(address) {
      await given?.();
      if (!given && configured().length === 0) await own.settle(address);
    },
  };
}

function givenTokens(token: string | undefined, tokenFile: string | undefined, log: Log) {
  if (tokenFile !== undefined) return watchTokenFile(tokenFile, log);
  if (token === undefined) return null;
  const entries = [tokenWithEveryScope('environment', token)];
  return () => entries;
}
