import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { INSTALLATION_MS, isListing } from './debian.ts';
import { withoutRedis } from './redis.ts';

/** Debian release whose Redis has vector sets. Its packages are unpacked, not installed: the machine may run an earlier release. */
const SUITE = 'trixie';
const PACKAGES = ['redis-server', 'redis-tools', 'libatomic1', 'libc6', 'libcap2', 'libgcc-s1', 'libgcrypt20'];
const LIBRARIES = ['libgpg-error0', 'libjemalloc2', 'liblz4-1', 'liblzf1', 'liblzma5', 'libssl3t64', 'libstdc++6'];
const OTHERS = ['libsystemd0', 'libzstd1', 'zlib1g'];

const folder = resolve(import.meta.dirname, '../../node_modules/.cache/sluice/redis-8');

const installed = ['redis-server'];

/** Command line of a Redis 8 or later, without options; null if none is installed, and none can be downloaded. */
export const redis8: readonly string[] | null = isListing ? installed : find();

/** Addition to the title of a skipped suite for Redis 8. */
export const withoutRedis8 = redis8 ? null : ' (install redis-server 8 or later)';

/** Addition to the title of a skipped suite for the installed Redis if it is older. */
export const withoutEarlierRedis =
  withoutRedis ?? (isListing || versionOf(installed) < 8 ? null : ' (install an earlier redis-server)');

function find(): readonly string[] | null {
  if (versionOf(installed) >= 8) return installed;
  if (!existsSync(folder) && !download()) return null;
  const [loader] = globSync('usr/lib/*/ld-linux-*.so.*', { cwd: folder });
  if (!loader) return null;
  const path = join(folder, loader);
  const unpacked = [path, '--library-path', resolve(path, '..'), join(folder, 'usr/bin/redis-server')];
  return versionOf(unpacked) >= 8 ? unpacked : null;
}

/** Major version of a server; 0 if it does not run. */
function versionOf([command, ...options]: readonly string[]): number {
  const { stdout } = spawnSync(command!, [...options, '--version'], { encoding: 'utf8' });
  return Number(/v=(\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/** Unpacks the packages into the folder, from the mirror that the machine installs packages from. */
function download(): boolean {
  const mirror = mirrorOf();
  if (mirror === null) return false;
  mkdirSync(resolve(folder, '..'), { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    for (const path of ['lists/partial', 'cache/archives/partial', 'root'])
      mkdirSync(join(work, path), { recursive: true });
    const sources = join(work, 'sources.list');
    writeFileSync(sources, `deb ${mirror} ${SUITE} main\n`);
    const settings = [
      ...[`Dir::Etc::SourceList=${sources}`, 'Dir::Etc::SourceParts=/dev/null', 'Acquire::Languages=none'],
      ...[`Dir::State::Lists=${join(work, 'lists')}`, `Dir::Cache=${join(work, 'cache')}`],
    ].flatMap((setting) => ['-o', setting]);
    const run = (command: string, ...options: readonly string[]) =>
      spawnSync(command, options, { cwd: work, stdio: 'ignore', timeout: INSTALLATION_MS / 3 }).status === 0;
    const wanted = [...PACKAGES, ...LIBRARIES, ...OTHERS];
    if (!run('apt-get', ...settings, 'update') || !run('apt-get', ...settings, 'download', ...wanted)) return false;
    for (const file of globSync('*.deb', { cwd: work })) if (!run('dpkg-deb', '-x', file, 'root')) return false;
    renameSync(join(work, 'root'), folder);
    return true;
  } catch {
    // Another process has unpacked the packages in the meantime, or the disk is full.
    return existsSync(folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function mirrorOf(): string | null {
  const targets = ['indextargets', '--format', '$(SITE) $(COMPONENT)', 'Created-By: Packages'];
  const { stdout } = spawnSync('apt-get', targets, { encoding: 'utf8' });
  return /^(\S+\/debian) main$/m.exec(stdout ?? '')?.[1] ?? null;
}
