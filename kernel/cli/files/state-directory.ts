import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * Returns the directory for persistent data, such as the configuration history and the admin token: the first of
 * `--state-dir`, GATEWAY_STATE_DIR, STATE_DIRECTORY (set by systemd), XDG_STATE_HOME/sluice and ~/.local/state/sluice.
 * @param flag the value of `--state-dir`.
 * @returns an absolute path; the directory need not exist.
 */
export function stateDirectory(env: Readonly<NodeJS.ProcessEnv>, flag?: string): string {
  const { GATEWAY_STATE_DIR, STATE_DIRECTORY, XDG_STATE_HOME } = env;
  // systemd lists all directories of a service, separated by colons.
  const named = flag || GATEWAY_STATE_DIR || STATE_DIRECTORY?.split(':')[0];
  if (named) return resolve(named);
  // The XDG Base Directory Specification requires relative paths to be ignored.
  const isUsable = XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME);
  return join(isUsable ? XDG_STATE_HOME : join(homedir(), '.local', 'state'), 'sluice');
}

/** Returns the directory for the history of one configuration file. */
export function revisionDirectory(directory: string, configPath: string): string {
  const name = createHash('sha256').update(resolve(configPath)).digest('hex').slice(0, 12);
  return join(directory, 'revisions', name);
}
