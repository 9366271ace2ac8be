import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { createFolder, type Folder, sluice } from '../kernel/cli/command.ts';
import { validate } from '../plugins/documentation/fixture.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

const file = 'samples/documents/gateway.json';

describe('the sample "documents"', () => {
  let folder: Folder;
  let backend: TestBackend;
  let gateway: Operations;
  before(async () => {
    folder = createFolder();
    backend = await startBackend(json([{ isbn: '1', title: 'One' }]));
    gateway = await startGateway({ ...JSON.parse(readFileSync(file, 'utf8')), host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
    folder.remove();
  });

  const document = async (...flags: string[]) =>
    JSON.parse((await sluice('export', 'openapi', '-c', file, '-o', '-', ...flags)).out);

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-t', '-c', file);
    deepEqual([code, err], [0, '']);
  });

  it('exports valid OpenAPI documents in every version, also for one audience', async () => {
    for (const flags of [[], ['--openapi-version', '3.1'], ['--legacy']]) await validate(await document(...flags));
    deepEqual(Object.keys((await document()).paths['/books']), ['get', 'post']);
    deepEqual(Object.keys((await document('-a', 'readers')).paths['/books']), ['get']);
  });

  it('exports a Postman collection', async () => {
    const { out } = await sluice('export', 'postman', '-c', file, '-o', '-');
    deepEqual(
      JSON.parse(out).item[0].item.map(({ name }: { name: string }) => name),
      ['Staff', 'List books', 'One book'],
    );
  });

  it('serves its documentation page and its document', async () => {
    match((await gateway.inject('/docs')).body, /Books, page by page/);
    deepEqual(Object.keys((await gateway.inject('/docs/openapi.json')).json().paths['/books']), ['get']);
    deepEqual((await gateway.inject('/books?page=2&secret=1')).json(), [{ isbn: '1', title: 'One' }]);
    equal(backend.requests.at(-1)!.target, '/books?page=2');
  });

  it('generates a working configuration from an OpenAPI document, which rejects undocumented bodies', async () => {
    const output = folder.path('gateway.json');
    const { code, err } = await sluice(
      'import',
      'openapi',
      'samples/documents/library.yaml',
      '--validate',
      '-o',
      output,
    );
    deepEqual([code, err], [0, `Wrote ${output}\n`]);
    deepEqual((await sluice('check', '-t', '-c', output)).err, '');
    const imported = await startGateway({ ...JSON.parse(folder.read('gateway.json')), host: [backend.url] });
    deepEqual((await imported.inject('/books')).json(), [{ isbn: '1', title: 'One' }]);
    const post = (payload: string) =>
      imported.inject({ method: 'POST', url: '/books', payload, headers: { 'content-type': 'application/json' } });
    equal((await post('{"isbn":"1"}')).statusCode, 400);
    await imported.close();
  });
});
