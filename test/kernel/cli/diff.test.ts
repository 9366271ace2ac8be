import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { createFolder, type Folder, sluice } from './command.ts';

const endpoint = (path: string, fields: DataObject = {}): DataObject => ({
  endpoint: path,
  backend: [{ url_pattern: '/', host: ['http://h'] }],
  ...fields,
});
const service = (fields: DataObject, ...endpoints: DataObject[]): DataObject => ({ version: 3, ...fields, endpoints });

const base = service({}, endpoint('/users/{id}'), endpoint('/old'));

describe('diff', () => {
  let folder: Folder;
  let from: string;
  before(() => {
    folder = createFolder();
    from = folder.write('from.json', base);
  });
  after(() => folder.remove());

  it('exits with status 0 if only format, order and layout differ', async () => {
    const yaml = `# the same\nversion: 3
endpoints:
  - { endpoint: /old, backend: [{ url_pattern: /, host: ["http://h"] }] }
  - { endpoint: "/users/{id}", method: GET, backend: [{ url_pattern: /, host: ["http://h"] }] }
`;
    const { code, out } = await sluice('diff', from, folder.write('same.yaml', yaml));
    deepEqual([code, out], [0, 'No difference.\n']);
  });

  it('exits with status 0 if only defaults and units of components differ', async () => {
    const limit = (settings: DataObject) =>
      service({}, endpoint('/a', { extra_config: { 'qos/ratelimit/router': settings } }));
    const one = folder.write('one.json', limit({ max_rate: 1, '@why': 'x' }));
    const other = folder.write('other.json', limit({ every: '1000ms', max_rate: 1 }));
    deepEqual(await sluice('diff', one, other), { code: 0, out: 'No difference.\n', err: '' });
  });

  it('prints the service first, then endpoints, and exits 1', async () => {
    const to = service({ port: 81 }, endpoint('/new'), endpoint('/users/{id}', { timeout: '3s' }));
    const file = folder.write('to.json', to);
    const { code, out } = await sluice('diff', from, file);
    equal(code, 1);
    equal(
      out,
      [
        '~ service',
        `    port: 8080 → 81 (rebind)  ${file}:3:3`,
        `+ GET /new  ${file}:5:5`,
        `- GET /old  ${from}:15:5`,
        '~ GET /users/{id}',
        `    timeout: "2s" → "3s"  ${file}:26:7`,
        '',
      ].join('\n'),
    );
  });

  it('names changed fields of backends, and added and removed endpoints', async () => {
    const backend = { url_pattern: '/', host: ['http://h'] };
    const to = service({}, endpoint('/old', { backend: [{ ...backend, group: 'g' }] }), endpoint('/users/{id}'));
    const file = folder.write('group.json', to);
    match(
      (await sluice('diff', from, file)).out,
      /^~ GET \/old\n {4}backend\[0\]\.group: added "g" {2}\S+group\.json:12:11\n$/,
    );
    match(
      (await sluice('diff', file, from)).out,
      /^~ GET \/old\n {4}backend\[0\]\.group: removed, was "g" {2}\S+group\.json:12:11\n$/,
    );
  });

  it('prints JSON with the place of every change', async () => {
    const to = folder.write(
      'json.json',
      `{"version":3,\n  "port": 81,\n"endpoints":${JSON.stringify(base['endpoints'])}}`,
    );
    const { code, out } = await sluice('diff', from, to, '--format', 'json');
    equal(code, 1);
    const { changes, patch, equal: isEqual } = JSON.parse(out);
    equal(isEqual, false);
    deepEqual(changes, [
      { op: 'replace', pointer: '/port', from: 8080, to: 81, effect: 'rebind', file: to, line: 2, column: 3 },
    ]);
    deepEqual(patch, [{ op: 'replace', path: '/port', value: 81 }]);
  });

  it('reports changes that endpoints inherit once, at the service', async () => {
    const to = folder.write('inherited.json', service({ timeout: '3s' }, endpoint('/old'), endpoint('/users/{id}')));
    const { out } = await sluice('diff', from, to);
    equal(out, `~ service\n    timeout: "2s" → "3s"  ${to}:3:3\n`);
  });

  it('writes pointers with the field names of the document', async () => {
    const name = 'github.com/devopsfaith/krakend-ratelimit/juju/router';
    const old = { version: 2, endpoints: [endpoint('/a', { extra_config: { [name]: { maxRate: 2 } } })] };
    const limit = { 'qos/ratelimit/router': { max_rate: 1 } };
    const present = folder.write('present.json', service({}, endpoint('/a', { extra_config: limit })));
    const { out } = await sluice('diff', present, folder.write('old.json', old), '--format', 'json');
    equal(JSON.parse(out).changes[0].pointer, `/endpoints/0/extra_config/${name.replaceAll('/', '~1')}/maxRate`);
  });

  it('never prints a secret', async () => {
    const users = (password: string) => ({
      'backend/http/client': { client_tls: { client_certs: [{ certificate: 'c', private_key: password }] } },
    });
    const write = (name: string, password: string) =>
      folder.write(
        name,
        service(
          {},
          endpoint('/a', { backend: [{ url_pattern: '/', host: ['http://h'], extra_config: users(password) }] }),
        ),
      );
    const files = [write('s1.json', 'first-one'), write('s2.json', 'second-one')] as const;
    for (const format of ['text', 'json']) {
      const { code, out } = await sluice('diff', ...files, '--format', format);
      equal(code, 1);
      ok(out.includes('***'));
      ok(!/first-one|second-one/.test(out));
    }
  });

  it('prints no color to a pipe', async () => {
    const { out } = await sluice('diff', from, folder.write('plain.json', service({ port: 81 })));
    ok(!out.includes('\x1b'));
  });

  it('exits with status 2 for a file that cannot be read', async () => {
    const { code, err } = await sluice('diff', from, folder.path('none.json'));
    equal(code, 2);
    match(err, /no such file/);
  });

  it('exits with status 2 for an invalid file, and prints its errors', async () => {
    const { code, out, err } = await sluice('diff', from, folder.write('bad.json', service({ timeout: '2' })));
    deepEqual([code, out], [2, '']);
    match(err, /bad\.json:3:\d+: error: 'timeout'/);
  });

  it('exits with status 2 for one file, three files and an unknown format', async () => {
    equal((await sluice('diff', from)).code, 2);
    equal((await sluice('diff', from, from, from)).code, 2);
    equal((await sluice('diff', from, from, '--format', 'xml')).code, 2);
  });
});
