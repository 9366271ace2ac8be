import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { parse } from 'yaml';
import { createFolder, type Folder, sluice } from '../../../kernel/cli/command.ts';
import { documented, endpoint, OPENAPI } from '../fixture.ts';

describe('sluice export openapi', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const write = (endpoints: object[], more: object = {}) =>
    folder.write('gateway.json', { version: 3, endpoints, ...more });

  it('writes the same file for the same configuration', async () => {
    const file = write([endpoint('/a')]);
    const [one, other] = [folder.path('one.json'), folder.path('other.json')];
    deepEqual(await sluice('export', 'openapi', '-c', file, '-o', one), { code: 0, out: '', err: `Wrote ${one}\n` });
    await sluice('export', 'openapi', '-c', file, '-o', other);
    equal(folder.read('one.json'), folder.read('other.json'));
    equal(JSON.parse(folder.read('one.json')).openapi, '3.0.3');
  });

  it('is also available as "openapi export", and writes to standard output', async () => {
    const file = write([endpoint('/a')]);
    const { code, out } = await sluice('openapi', 'export', '-c', file, '-o', '-');
    deepEqual([code, Object.keys(JSON.parse(out).paths)], [0, ['/a']]);
  });

  it('writes YAML, OpenAPI 3.1 and Swagger 2.0', async () => {
    const file = write([endpoint('/a')]);
    const text = async (...flags: string[]) => (await sluice('export', 'openapi', '-c', file, '-o', '-', ...flags)).out;
    equal(parse(await text('--yaml')).openapi, '3.0.3');
    equal(JSON.parse(await text('--openapi-version', '3.1')).openapi, '3.1.0');
    equal(JSON.parse(await text('--legacy')).swagger, '2.0');
  });

  it('warns about omissions and an unknown audience', async () => {
    const file = write([documented('/a', { query_definition: [{ name: 'page' }] })]);
    const { code, err } = await sluice('export', 'openapi', '-c', file, '-o', '-');
    equal(code, 0);
    match(err, /^WARNING \/endpoints\/0\/extra_config\/documentation~1openapi\/query_definition\/0\/name: .*'page'\n$/);
    const other = await sluice('export', 'openapi', '-c', file, '-o', '-', '-a', 'nobody');
    deepEqual([other.code, JSON.parse(other.out).paths], [0, {}]);
    match(other.err, /WARNING no endpoint has the audience "nobody"/);
  });

  it('omits validators if requested', async () => {
    const file = write([endpoint('/a', { method: 'POST' }, { 'validation/json-schema': { type: 'object' } })]);
    const { out } = await sluice('export', 'openapi', '-c', file, '-o', '-', '--skip-jsonschema');
    deepEqual(JSON.parse(out).paths['/a'].post.requestBody, { content: { '*/*': {} } });
  });

  it('writes nothing for an invalid configuration, and lists all errors', async () => {
    const file = write([
      documented('/a', { operation_id: 'x' }),
      documented('/b', { operation_id: 'x', response_definition: { 200: { ref: 'Nope' } } }),
    ]);
    const output = folder.path('none.json');
    const { code, err } = await sluice('export', 'openapi', '-c', file, '-o', output);
    equal(code, 1);
    for (const pointer of ['/endpoints/0/', '/endpoints/1/']) {
      ok(err.includes(`${pointer}extra_config/documentation~1openapi/operation_id`), err);
    }
    match(err, /components_schemas has no "Nope"/);
    equal((await sluice('check', '-c', output)).code, 1);
  });

  it('writes no document that violates OpenAPI, and reports the location of the violation', async () => {
    const schemas = { components_schemas: { A: { type: 'object', properties: { a: { minLength: -1 } } } } };
    const file = write([endpoint('/a')], { extra_config: { [OPENAPI]: schemas } });
    const { code, err, out } = await sluice('export', 'openapi', '-c', file, '-o', '-');
    deepEqual([code, out], [1, '']);
    match(err, /^ERROR the document would not be valid: \/components\/schemas\/A\/properties\/a\/minLength: /);
  });

  it('reports an output file that cannot be written', async () => {
    const file = write([endpoint('/a')]);
    const { code, err } = await sluice('export', 'openapi', '-c', file, '-o', folder.path('no/such/folder.json'));
    equal(code, 1);
    match(err, /^ERROR cannot write .*ENOENT/);
  });

  it('requires a configuration and a supported version', async () => {
    equal((await sluice('export', 'openapi')).code, 2);
    equal((await sluice('export', 'openapi', '-c', write([]), '--openapi-version', '4')).code, 2);
    const { code, err } = await sluice('export');
    equal(code, 2);
    match(err, /specify what to export: openapi or postman/);
  });

  it('appears in the help under its canonical name only', async () => {
    const { out } = await sluice('help');
    match(out, /^ {2}export openapi +Export .*\.$/m);
    equal(/openapi export/.test(out), false);
    match((await sluice('help', 'export', 'openapi')).out, /^usage: sluice export openapi -c FILE \[FLAGS\]/);
    match((await sluice('export', '--help')).out, /^usage: sluice export openapi \| postman/);
  });
});
