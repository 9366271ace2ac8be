import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What an installation may take, in milliseconds. */
export const INSTALLATION_MS = 180_000;

/** Tests are listed and not run: their titles are the same wherever that is. */
export const isListing = process.env['SLUICE_TEST_LISTING'] !== undefined;

/**
 * Whether a command or an absolute path of a Debian package is there. Where it is not and the tests run as root, the package is installed
 * first. A suite that is skipped without it says in its title how to install it.
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
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}
