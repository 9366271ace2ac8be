// Installs the packages in package-lock.json, unless they are already installed: all of them or, with --omit=dev, only
// the ones needed to serve. Plain JavaScript for any Node.js, because the pinned version is one of the packages.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = `${root}node_modules`;
/** The new installation is created here, so that an interrupted one leaves the old one intact. */
const staging = `${root}.install`;
const previous = `${staging}/previous`;
const { engines } = readJson(`${root}package.json`);
// The pinned Node.js is a development dependency, which is installed if the running Node.js is too old.
const isSupported = isAtLeast(process.versions.node, engines.node.replace('>=', ''));
const isWhole = !process.argv.includes('--omit=dev') || !isSupported;

// If an earlier run was interrupted between the two moves, the old installation is restored.
if (existsSync(previous) && !existsSync(installed)) renameSync(previous, installed);
if (!isInstalled()) install();

/** True if npm completed an installation here with every required package in the version of the lock file. */
function isInstalled() {
  const record = `${installed}/.package-lock.json`;
  if (!existsSync(record) || (!isSupported && !existsSync(`${installed}/node/bin`))) return false;
  const present = readJson(record).packages;
  return Object.entries(readJson(`${root}package-lock.json`).packages).every(([path, wanted]) => {
    const isRequired = path !== '' && !wanted.optional && !wanted.devOptional && (isWhole || !wanted.dev);
    const { version, integrity } = present[path] ?? {};
    return !isRequired || (version === wanted.version && integrity === wanted.integrity);
  });
}

function install() {
  process.stderr.write('installing dependencies …\n');
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging);
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(`${root}${name}`, `${staging}/${name}`);
  const isWindows = process.platform === 'win32';
  const options = ['--no-audit', '--no-fund', '--loglevel=error', ...(isWhole ? [] : ['--omit=dev'])];
  const result = spawnSync(isWindows ? 'npm.cmd' : 'npm', ['ci', ...options], {
    cwd: staging,
    shell: isWindows,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (result.status === 0) {
    if (existsSync(installed)) renameSync(installed, previous);
    renameSync(`${staging}/node_modules`, installed);
  } else {
    process.stderr.write('npm ci failed; node_modules is unchanged\n');
    process.exitCode = 1;
  }
  rmSync(staging, { recursive: true, force: true });
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function isAtLeast(version, least) {
  const wanted = least.split('.').map(Number);
  const parts = version.split('.').map(Number);
  const at = parts.findIndex((part, index) => part !== wanted[index]);
  return at === -1 || parts[at] > wanted[at];
}
