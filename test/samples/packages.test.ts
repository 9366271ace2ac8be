import { deepEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'sucrase';
import { silentSinks } from '../../kernel/testing/index.ts';
import { sluice } from '../kernel/cli/command.ts';
import { json, openGateway, startBackend } from '../support/gateway.ts';

const run = promisify(execFile);

describe('the sample "packages"', function () {
  this.timeout(180_000);
  const home = process.cwd();
  let folder: string;

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'packages-')));
    cpSync('samples/packages', folder, { recursive: true });
  });
  after(() => {
    process.chdir(home);
    rmSync(folder, { recursive: true });
  });

  it('can be built, packed, installed, checked and served by its package name', async () => {
    const source = join(folder, 'sluice-team');
    const project = join(folder, 'project');
    // In the place of its build, which needs the compiler and the package.
    mkdirSync(join(source, 'dist'));
    for (const name of readdirSync(join(source, 'src'))) {
      const text = readFileSync(join(source, 'src', name), 'utf8');
      const { code } = transform(text, { transforms: ['typescript'], disableESTransforms: true });
      writeFileSync(join(source, 'dist', name.replace('.ts', '.js')), code);
    }
    await run('npm', ['pack', '--ignore-scripts'], { cwd: source });
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '../sluice-team/acme-sluice-team-1.0.0.tgz'], {
      cwd: project,
    });
    const entry = join(project, 'node_modules/@acme/sluice-team/dist/index.js');
    const checked = await sluice('plugin', 'check', entry);
    deepEqual([checked.code, checked.out], [0, `OK acme/team ${entry}\n`]);
    process.chdir(project);
    const backend = await startBackend(json({ name: 'Ada' }));
    const document = JSON.parse(readFileSync('gateway.json', 'utf8'));
    const gateway = await openGateway({ ...document, host: [backend.host] }, { port: 0, sinks: silentSinks });
    const { headers, body } = await gateway.inject('/users/1');
    deepEqual([headers['x-team'], body], ['accounts', '{"name":"Ada"}']);
    await gateway.close();
    await backend.close();
  });
});
