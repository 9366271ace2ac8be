import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A third-party program. */
export interface Program {
  readonly version: string;
  /** Path of the executable, or of the folder whose `node_modules` contains the packages. */
  readonly path: string;
}

/** Timeout of one installation, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Folders in which Debian installs servers, which are not on a user's PATH. */
const SERVERS = ['/usr/sbin', '/usr/local/sbin'];

/** Path of an executable; undefined when it is not on PATH. */
export function findProgram(name: string, path = process.env['PATH'] ?? ''): string | undefined {
  for (const folder of [...path.split(delimiter), ...SERVERS]) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {}
  }
  return undefined;
}

/** Path of a required executable. @param advice how to install it. @throws Error with the advice. */
export function requireProgram(name: string, advice: string): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(`${name} is not on the PATH: ${advice}`);
  return file;
}

/** Combined output of a program. @throws Error with its last line when it fails. */
export async function outputOf(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { env: { ...process.env, ...env }, timeout: PATIENCE_MS, maxBuffer: 2 ** 26 };
  const running = promisify(execFile)(file, args, options);
  const end = () => running.child.kill();
  process.once('exit', end);
  try {
    const { stdout, stderr } = await running;
    return (stdout + stderr).trim();
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    const lines = (stdout + stderr).split('\n').filter((line) => line.trim() !== '');
    throw new Error(`${[file, ...args].join(' ')} failed: ${lines.at(-1) ?? message}`);
  } finally {
    process.removeListener('exit', end);
  }
}

/** Cache folder for installed programs: `$XDG_CACHE_HOME/sluice-bench`, else under `~/.cache`. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice-bench');
}

/**
 * Packages from npm, installed at first use without running their scripts. The first one determines the version.
 * @param packages exact versions by name.
 * @throws Error when npm cannot install them.
 */
export async function npmPackages(packages: Readonly<Record<string, string>>): Promise<Program> {
  const [[name, version]] = Object.entries(packages) as [[string, string]];
  const npm = requireProgram('npm', 'it comes with Node');
  const path = await installed(`${name}-${version}`, 'package-lock.json', async (folder) => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    await outputOf(npm, ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']);
  });
  return { version, path };
}

/** A program of a Go module, built at first use. @throws Error when Go is not installed or the build fails. */
export async function goProgram(name: string, module: string, version: string): Promise<Program> {
  const go = requireProgram('go', `install Go, or put ${name} on the PATH`);
  const path = await installed(`${name}-${version}`, name, async (folder) => {
    await outputOf(go, ['install', `${module}@v${version}`], { GOBIN: folder, CGO_ENABLED: '0' });
  });
  return { version, path: join(path, name) };
}

/** A folder of the cache, filled at first use; an incomplete folder is not used. */
async function installed(name: string, proof: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder(), name.replaceAll('/', '_'));
  if (isThere(join(folder, proof))) return folder;
  const unfinished = `${folder}.${process.pid}`;
  const clean = () => rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  process.once('exit', clean);
  try {
    await fill(unfinished);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    clean();
    process.removeListener('exit', clean);
  }
  return folder;
}

function isThere(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Version of a package that the project itself depends on. */
export function ownVersion(name: string): string {
  const file = join(dirname(dirname(import.meta.dirname)), 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
