import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('the package', function () {
  this.timeout(60_000);
  let files: string[];
  before(async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
    files = JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path);
  });

  it('has what a user reads and tries first', () => {
    for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'samples/quickstart/gateway.json']) {
      ok(files.includes(file), file);
    }
  });

  it('contains whatever its texts link to', () => {
    const texts = files.filter((file) => file.endsWith('.md') && !file.startsWith('dist/'));
    const links = texts.flatMap((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, target]) =>
        normalize(join(dirname(file), target!)),
      ),
    );
    ok(links.length > 0);
    deepEqual(
      links.filter((target) => !files.includes(target)),
      [],
    );
  });
});

describe('the command of the repository', () => {
  it('is that of the package', async () => {
    match((await run(process.execPath, ['bin/sluice.mjs', 'version'])).stdout, /^Sluice Version: /);
  });

  it('says what to do where Node.js is too old for TypeScript', async () => {
    const old = run(process.execPath, ['--no-experimental-strip-types', 'bin/sluice.mjs', 'version']);
    const { code, stdout, stderr } = await old.then(
      () => ({ code: 0, stdout: '', stderr: '' }),
      (error) => error,
    );
    deepEqual([code, stdout], [1, '']);
    equal(
      stderr,
      `sluice needs Node.js 22.23.2 or newer; this is ${process.versions.node}\n` +
        'npm start or npm test installs the pinned one; then: npx node bin/sluice.mjs\n',
    );
  });
});
