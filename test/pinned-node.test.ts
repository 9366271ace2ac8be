import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A substitute for the pinned Node.js that prints its arguments and waits until it is stopped. */
const pinned = `#!${process.execPath}
process.once('SIGTERM', () => process.exit(7));
setInterval(() => {}, 60_000);
console.log(JSON.stringify(process.argv.slice(3)));
`;

describe('bin/sluice.mjs under a Node.js that is too old', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pinned-'));
    cpSync('bin/sluice.mjs', path('bin/sluice.mjs'));
    writeFileSync(path('package.json'), JSON.stringify({ engines: { node: '>=99.1.0' } }));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const start = (...args: string[]) => spawn(process.execPath, [path('bin/sluice.mjs'), ...args]);

  it('starts the pinned Node.js, passes signals to it and exits with its code', async () => {
    mkdirSync(path('node_modules/node/bin'), { recursive: true });
    writeFileSync(path('node_modules/node/bin/node'), pinned, { mode: 0o755 });
    const child = start('run', 'gateway.json');
    const ended = once(child, 'exit');
    const [line] = await once(child.stdout, 'data');
    deepEqual(JSON.parse(line), ['run', 'gateway.json']);
    child.kill('SIGTERM');
    deepEqual(await ended, [7, null]);
  });

  it('explains what to do if the pinned Node.js is not installed', async () => {
    const child = start('version');
    const ended = once(child, 'exit');
    const [text] = await once(child.stderr, 'data');
    match(String(text), /^sluice needs Node\.js 99\.1\.0 or newer; this is .*\nnode scripts\/install\.mjs installs /);
    equal((await ended)[0], 1);
  });
});
