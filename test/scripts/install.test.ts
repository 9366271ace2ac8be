import { deepEqual, equal, match } from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const packages = {
  '': { name: 'project' },
  'node_modules/koa': { version: '1.0.0', integrity: 'sha512-k' },
  'node_modules/mocha': { version: '1.0.0', integrity: 'sha512-m', dev: true },
  'node_modules/other-system': { version: '1.0.0', integrity: 'sha512-o', optional: true },
};
const { '': _, 'node_modules/other-system': __, ...both } = packages;
const { 'node_modules/mocha': ___, ...needed } = both;

/** A substitute for npm that records its arguments and creates an installation, or fails in the middle of it. */
const npm = `#!${process.execPath}
const fs = require('node:fs');
fs.appendFileSync(process.env.CALLS, process.argv.slice(2).join(' ') + '\\n');
fs.rmSync('node_modules', { recursive: true, force: true });
fs.mkdirSync('node_modules/new', { recursive: true });
if (process.env.FAILS) process.exit(1);
fs.writeFileSync('node_modules/.package-lock.json', '{"packages":{}}');
`;

describe('the script scripts/install.mjs', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  const calls = () => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : []);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'install-'));
    for (const name of ['scripts', 'bin', 'node_modules/old']) mkdirSync(path(name), { recursive: true });
    cpSync('scripts/install.mjs', path('scripts/install.mjs'));
    writeFileSync(path('package.json'), JSON.stringify({ engines: { node: '>=18.0.0' } }));
    writeFileSync(path('package-lock.json'), JSON.stringify({ packages }));
    writeFileSync(path('bin/npm'), npm, { mode: 0o755 });
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function install(args: readonly string[], env: Record<string, string> = {}): SpawnSyncReturns<string> {
    return spawnSync(process.execPath, [path('scripts/install.mjs'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${path('bin')}${delimiter}${process.env['PATH']}`, CALLS: path('calls'), ...env },
    });
  }

  const record = (present: object) =>
    writeFileSync(path('node_modules/.package-lock.json'), JSON.stringify({ packages: present }));

  it('accepts an installation made by npm ci', () => {
    record(both);
    equal(install([]).status, 0);
    deepEqual(calls(), []);
  });

  it('accepts an installation without development dependencies if none are needed', () => {
    record(needed);
    install(['--omit=dev']);
    deepEqual(calls(), []);
    install([]);
    deepEqual(calls(), ['ci --no-audit --no-fund --loglevel=error']);
  });

  it('installs only production dependencies with --omit=dev', () => {
    const { status, stderr } = install(['--omit=dev']);
    equal(status, 0);
    equal(stderr, 'installing dependencies …\n');
    deepEqual(calls(), ['ci --no-audit --no-fund --loglevel=error --omit=dev']);
    equal(existsSync(path('node_modules/new')), true);
    equal(existsSync(path('node_modules/old')), false);
    equal(existsSync(path('.install')), false);
  });

  it('installs everything, including the pinned Node.js, if the present Node.js is too old', () => {
    writeFileSync(path('package.json'), JSON.stringify({ engines: { node: '>=99.0.0' } }));
    record(both);
    install(['--omit=dev']);
    deepEqual(calls(), ['ci --no-audit --no-fund --loglevel=error']);
  });

  it('installs again if the lock file lists another version', () => {
    record({ ...both, 'node_modules/koa': { version: '0.9.0', integrity: 'sha512-k' } });
    install([]);
    equal(calls().length, 1);
  });

  it('keeps the old installation if npm fails', () => {
    record({});
    const { status, stderr } = install([], { FAILS: '1' });
    equal(status, 1);
    match(stderr, /npm ci failed; node_modules is unchanged\n$/);
    equal(existsSync(path('node_modules/old')), true);
    equal(existsSync(path('node_modules/new')), false);
  });

  it('restores the old installation if a previous run was interrupted', () => {
    record(both);
    mkdirSync(path('.install'));
    cpSync(path('node_modules'), path('.install/previous'), { recursive: true });
    rmSync(path('node_modules'), { recursive: true });
    install([]);
    deepEqual(calls(), []);
    equal(existsSync(path('node_modules/old')), true);
  });
});
