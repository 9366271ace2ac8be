import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Maximum duration of an installation, in milliseconds. */
export const INSTALLATION_MS = 180_000;

/** In a dry run, tests are only listed, with the same titles on every machine. */
export const isListing = process.env['SLUICE_TEST_LISTING'] !== undefined;

/**
 * Whether a command or an absolute path of a Debian package exists. If it does not and the tests run as root, the package is installed.
 * The title of a skipped suite says how to install it.
 */
export function isInstalled(command: string, name: string = command): boolean {
  if (isListing || isThere(command)) return true;
  if (process.getuid?.() !== 0 || !isThere('apt-get')) return false;
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore',
      timeout: INSTALLATION_MS / 3,
    }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', name);
  return (install() || (apt('update') && install())) && isThere(command);
}

function isThere(command: string): boolean {
  if (command.startsWith('/')) return existsSync(command);
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
}
