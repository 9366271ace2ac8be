import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../scripts/build/bundle.ts';
import { imports } from '../scripts/build/imports.ts';

const run = promisify(execFile);

describe('the code of the package', function () {
  this.timeout(60_000);
  let home: string;
  let dist: string;

  /** What `npm install` leaves, but for the types. */
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'sluice-built-'));
    const installed = join(home, 'node_modules/sluice');
    dist = join(installed, 'dist');
    mkdirSync(dist, { recursive: true });
    await bundle(dist);
    writeFileSync(join(dist, 'package.json'), JSON.stringify({ type: 'module', imports }));
    copyFileSync('package.json', join(installed, 'package.json'));
    writeFileSync(join(home, 'package.json'), JSON.stringify({ type: 'module' }));
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const name of Object.keys(dependencies)) {
      const link = join(home, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(resolve('node_modules', name), link);
    }
  });
  after(() => rmSync(home, { recursive: true }));

  /** The last line that a program beside the installed package prints, as JSON. */
  const outcomeOf = async (source: string): Promise<unknown> => {
    writeFileSync(join(home, 'program.js'), source);
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: home });
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  };

  it('is a command that knows its version and its plugins', async () => {
    const command = (...args: string[]) => run(process.execPath, [join(dist, 'kernel/bin.js'), ...args], { cwd: home });
    match((await command('version')).stdout, /^Sluice Version: \d/);
    const config = { version: 3, endpoints: [{ endpoint: '/a', backend: [{ host: ['http://a'], url_pattern: '/' }] }] };
    writeFileSync(join(home, 'gateway.json'), JSON.stringify(config));
    match((await command('check', '-c', 'gateway.json')).stdout, /Syntax OK/);
  });

  it('is one and the same for gateway, plugins and tests of plugins', async () => {
    const same = await outcomeOf(`
      import { ConfigError } from 'sluice';
      import * as plugin from 'sluice/plugin';
      import { openHarness } from 'sluice/testing';
      const refusing = plugin.definePlugin({
        name: 'acme/refusing',
        contract: 1,
        description: 'Refuses.',
        places: [plugin.atEndpoint({ type: 'object' }, (site) => { throw site.fault('ACME', '', 'no'); })],
      });
      const error = await openHarness(refusing, 'endpoint', {}).catch((error) => error);
      console.log(JSON.stringify([ConfigError === plugin.ConfigError, error instanceof ConfigError || error.errors?.[0] instanceof ConfigError]));
    `);
    deepEqual(same, [true, true]);
  });

  it('finds the programs of its threads', async () => {
    mkdirSync(join(home, 'plugins'));
    writeFileSync(
      join(home, 'plugins/team.js'),
      `export const plugin = { name: 'team', apiVersion: 1, isolate: true, middleware: () => () => ({ data: { short: true }, isComplete: true }) };`,
    );
    const outcome = await outcomeOf(`
      import { createGateway } from 'sluice';
      const gateway = await createGateway({
        version: 3,
        plugin: { folder: './plugins/' },
        endpoints: [{
          endpoint: '/a',
          backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
          extra_config: { 'plugin/middleware': { name: ['team'] } },
        }],
      });
      const { statusCode, body } = await gateway.inject({ url: '/a' });
      await gateway.close();
      process.stdout.write(JSON.stringify([statusCode, JSON.parse(body)]) + '\\n');
      process.exit();
    `);
    deepEqual(outcome, [200, { short: true }]);
  });

  it('leads from every path that is started to a file that is there', () => {
    const programs = ['containment/watchdog-thread', 'registry/isolation/program', 'cli/plugin/test-hook'];
    for (const path of [...programs.map((name) => `kernel/${name}`), 'plugins/auth/basic/comparison-thread']) {
      const [, target] = /from '(.*)'/.exec(readFileSync(join(dist, `${path}.js`), 'utf8'))!;
      equal(readdirSync(join(dist, 'lib')).includes(target!.split('/').at(-1)!), true, path);
    }
  });

  it('starts without ajv, and without what Node.js loads when somebody reads all of its exports', async () => {
    const loaded = await outcomeOf(`
      import { createRequire } from 'node:module';
      import { createGateway } from 'sluice';
      const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
      const gateway = await createGateway({ version: 3, timeout: '2s', endpoints: [{ endpoint: '/a', backend }] });
      await gateway.listen();
      await gateway.close();
      const { cache } = createRequire(import.meta.url);
      console.log(JSON.stringify({
        ajv: Object.keys(cache).filter((file) => /[\\/]ajv[\\/]/.test(file) && !file.includes('ucs2length')),
        checks: Object.keys(cache).some((file) => /checks[\\/]\\w+.cjs$/.test(file)),
        fetch: process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'),
      }));
    `);
    deepEqual(loaded, { ajv: [], checks: true, fetch: false });
  });
});
