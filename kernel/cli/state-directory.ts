import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * Where a gateway keeps what outlives it, such as the history of configurations and the token of the admin port: the
 * first of `--state-dir`, GATEWAY_STATE_DIR, STATE_DIRECTORY (as systemd sets it), XDG_STATE_HOME/sluice and
 * ~/.local/state/sluice.
 * @param flag the value of `--state-dir`.
 * @returns an absolute path; the directory need not exist.
 */
export function stateDirectory(env: Readonly<NodeJS.ProcessEnv>, flag?: string): string {
  const { GATEWAY_STATE_DIR, STATE_DIRECTORY, XDG_STATE_HOME } = env;
  // systemd lists all of a service's directories, separated by colons.
  const named = flag || GATEWAY_STATE_DIR || STATE_DIRECTORY?.split(':')[0];
  if (named) return resolve(named);
  // A relative path there is to be ignored, says the base directory specification.
  const isUsable = XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME);
  return join(isUsable ? XDG_STATE_HOME : join(homedir(), '.local', 'state'), 'sluice');
}

/** Where the history of one configuration file is kept. */
export function revisionDirectory(directory: string, configPath: string): string {
  const name = createHash('sha256').update(resolve(configPath)).digest('hex').slice(0, 12);
  return join(directory, 'revisions', name);
}
