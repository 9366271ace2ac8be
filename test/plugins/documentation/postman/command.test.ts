import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from '../../../kernel/cli/command.ts';
import { endpoint } from '../fixture.ts';

const POSTMAN = 'documentation/postman';

describe('sluice export postman', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const write = (settings: object, own: object = {}) =>
    folder.write('gateway.json', {
      version: 3,
      endpoints: [endpoint('/a', {}, { [POSTMAN]: own })],
      extra_config: { [POSTMAN]: settings },
    });

  it('writes a collection and its environment', async () => {
    const [collection, environment] = [folder.path('c.json'), folder.path('e.json')];
    const call = await sluice(
      'export',
      'postman',
      '-c',
      write({ name: 'Shop' }),
      '-o',
      collection,
      '--environment',
      environment,
    );
    deepEqual(call, { code: 0, out: '', err: `Wrote ${collection}\nWrote ${environment}\n` });
    equal(JSON.parse(folder.read('c.json')).info.name, 'Shop');
    equal(JSON.parse(folder.read('e.json'))._postman_variable_scope, 'environment');
  });

  for (const name of [
    ['postman', 'export'],
    ['generate', 'postman'],
  ]) {
    it(`is also available as ${name.join(' ')}`, async () => {
      const { code, out } = await sluice(...name, '-c', write({ name: 'Shop' }), '-o', '-', '--internal');
      deepEqual([code, JSON.parse(out).item[0].name], [0, 'Internal']);
    });
  }

  for (const [sentence, settings, own, pointer] of [
    ['a version with a letter', { version: 'v0.3.0' }, {}, '/extra_config/documentation~1postman/version'],
    ['a folder without a name', { folder: [{}] }, {}, '/extra_config/documentation~1postman/folder/0'],
    [
      'a folder name that consists of slashes',
      { folder: [{ name: '//' }] },
      {},
      '/extra_config/documentation~1postman/folder/0/name',
    ],
    [
      'an item in a folder named with slashes',
      {},
      { folder: '/' },
      '/endpoints/0/extra_config/documentation~1postman/folder',
    ],
    ['an unknown field', { nme: 'x' }, {}, '/extra_config/documentation~1postman/nme'],
  ] as const) {
    it(`rejects ${sentence}`, async () => {
      const { code, err, out } = await sluice('export', 'postman', '-c', write(settings, own), '-o', '-');
      deepEqual([code, out], [1, '']);
      equal(err.includes(pointer), true, err);
    });
  }

  for (const version of ['0.3.0', '10.2.1']) {
    it(`accepts the version ${version}`, async () => {
      equal((await sluice('check', '-c', write({ version, '@note': 'x' }))).code, 0);
    });
  }

  it('requires a configuration', async () => {
    const { code, err } = await sluice('export', 'postman');
    equal(code, 2);
    match(err, /sluice export postman -c FILE/);
  });
});
