import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const config = {
  version: 3,
  endpoints: [{ endpoint: '/a', backend: [{ host: ['http://a.test'], url_pattern: '/' }] }],
};

describe('the configuration file of a command', () => {
  const home = process.cwd();
  let folder: Folder;

  beforeEach(() => {
    folder = createFolder();
    process.chdir(folder.path('.'));
  });
  afterEach(() => {
    process.chdir(home);
    folder.remove();
  });

  for (const command of ['check', 'routes', 'audit', 'migrate']) {
    it(`can be the argument of ${command}`, async () => {
      const asArgument = await sluice(command, folder.write('a.json', config));
      deepEqual(asArgument, await sluice(command, '-c', folder.path('a.json')));
    });
  }

  for (const name of ['gateway.json', 'gateway.yaml', 'krakend.json']) {
    it(`defaults to ${name} in the working directory, which is logged`, async () => {
      folder.write(name, config);
      const { code, out, err } = await sluice('explain', 'GET', '/a');
      equal(code, 0);
      match(out, /^answered by +GET \/a /);
      equal(err, `Using ${name}\n`);
    });
  }

  it('must be given if the working directory has several', async () => {
    folder.write('gateway.json', config);
    folder.write('krakend.json', config);
    const { code, err } = await sluice('run');
    equal(code, 2);
    match(err, /^several configuration files found: choose one of gateway\.json, krakend\.json\n/);
  });

  it('is required if the working directory has none, with a hint how to create one', async () => {
    const { code, err } = await sluice('run');
    equal(code, 2);
    match(
      err,
      /^no configuration file: the working directory has no gateway\.json, .*\n.* -c FILE, .* sluice init\.\n/,
    );
  });

  it('cannot be given twice', async () => {
    for (const args of [
      ['a.json', 'b.json'],
      ['-c', 'a.json', 'b.json'],
    ]) {
      const { code, err } = await sluice('check', ...args);
      equal(code, 2);
      match(err, /^unexpected argument "b\.json": the configuration file is a\.json\n/);
    }
  });

  for (const format of ['json', 'yaml', 'toml']) {
    it(`is created as ${format} by init, without errors or warnings`, async () => {
      const { code, out } = await sluice('init', '--format', format);
      equal(code, 0);
      match(out, new RegExp(`^Wrote gateway\\.${format}\\. `));
      match(folder.read(`gateway.${format}`), /Only the query parameters and headers listed here/);
      deepEqual(await sluice('check', '-t'), {
        code: 0,
        out: `Parsing configuration file: gateway.${format}\nSyntax OK!\n`,
        err: `Using gateway.${format}\n`,
      });
    });
  }

  it('has the same meaning in each format of init', async () => {
    for (const format of ['json', 'yaml', 'toml']) await sluice('init', '--format', format);
    for (const other of ['gateway.yaml', 'gateway.toml']) {
      equal((await sluice('diff', 'gateway.json', other)).out, 'No difference.\n');
    }
  });

  it('is not overwritten by init', async () => {
    folder.write('gateway.json', 'mine');
    const { code, out, err } = await sluice('init');
    deepEqual([code, out, err], [1, '', 'ERROR gateway.json already exists and is not overwritten\n']);
    equal(folder.read('gateway.json'), 'mine');
  });

  it('cannot be created by init in an unknown format', async () => {
    const { code, err } = await sluice('init', '--format', 'xml');
    equal(code, 2);
    match(err, /^unknown format "xml" \(one of json, yaml, toml\)\n/);
  });
});
