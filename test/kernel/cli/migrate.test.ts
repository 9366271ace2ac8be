import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const old = `{
  // the shop
  "version": 2,
  "endpoints": [
    { "endpoint": "/a", "headers_to_pass": ["A"], "backend": [{ "url_pattern": "/", "host": ["http://h"] }] }
  ]
}
`;
const migrated = old.replace('2', '3').replace('headers_to_pass', 'input_headers');

describe('migrate', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  it('prints the migrated file and lists the changes with their places', async () => {
    const file = folder.write('print.json', old);
    const { code, out, err } = await sluice('migrate', '-c', file);
    deepEqual(
      { code, out, err },
      {
        code: 0,
        out: migrated,
        err: `${file}:3:14: 'version' is now 3\n${file}:5:25: 'headers_to_pass' is now 'input_headers'\n`,
      },
    );
    equal(folder.read('print.json'), old);
  });

  it('writes to another file with -o', async () => {
    const { code, out } = await sluice('migrate', '-c', folder.write('from.json', old), '-o', folder.path('to.json'));
    deepEqual([code, out, folder.read('to.json')], [0, '', migrated]);
  });

  it('writes the file itself with --write, and then reports nothing to do', async () => {
    const file = folder.write('self.json', old);
    await sluice('migrate', '-c', file, '--write');
    equal(folder.read('self.json'), migrated);
    const { code, err } = await sluice('migrate', '-c', file, '--write');
    deepEqual([code, err, folder.read('self.json')], [0, `${file}: nothing to migrate\n`, migrated]);
  });

  it('sets the version of --to, and reports components that this version no longer has', async () => {
    const metrics = { 'telemetry/metrics': {} };
    const file = folder.write('to-four.json', { version: 3, extra_config: metrics, endpoints: [] });
    const { code, out, err } = await sluice('migrate', '-c', file, '--to', '4');
    equal(code, 0);
    equal(JSON.parse(out).version, 4);
    match(err, /to-four\.json:2:14: 'version' is now 4\n/);
    match(
      err,
      /to-four\.json:4:5: left unchanged: 'telemetry\/metrics' works here, but version 4 of the format no longer has it/,
    );
    const back = folder.write('to-three.json', out);
    equal(JSON.parse((await sluice('migrate', back, '--to', '3')).out).version, 3);
    equal((await sluice('migrate', back, '--to', '5')).code, 2);
  });

  it('keeps version 4', async () => {
    const file = folder.write('four.json', { version: 4, endpoints: [] });
    const { code, err } = await sluice('migrate', file);
    deepEqual([code, err], [0, `${file}: nothing to migrate\n`]);
  });

  it('reports plugins of KrakenD, which must be replaced by hand', async () => {
    const client = { 'plugin/http-client': { name: 'no-redirect' } };
    const backend = [{ url_pattern: '/', host: ['http://b.test'], extra_config: client }];
    const file = folder.write('client.json', { version: 3, endpoints: [{ endpoint: '/a', backend }] });
    const { code, err } = await sluice('migrate', '-c', file);
    equal(code, 0);
    match(
      err,
      /client\.json:14:15: left unchanged: the built-in client "no-redirect" is outdated: it was replaced by "backend\/http\/client"\n$/,
    );
  });

  it('reports settings that cannot be migrated, with their place, and writes nothing', async () => {
    const text = old.replace('"headers_to_pass"', '"input_headers": [], "headers_to_pass"');
    const file = folder.write('conflict.json', text);
    const { code, out, err } = await sluice('migrate', '-c', file, '--write');
    deepEqual([code, out, folder.read('conflict.json')], [1, '', text]);
    match(err, /conflict\.json:5:\d+: error: 'headers_to_pass' is an old name of 'input_headers', which is also set/);
  });

  it('reports a file that cannot be read', async () => {
    const { code, err } = await sluice('migrate', '-c', folder.path('none.json'));
    equal(code, 1);
    match(err, /no such file/);
  });

  it('reports a file that cannot be written', async () => {
    const { code, err } = await sluice('migrate', '-c', folder.write('ok.json', old), '-o', folder.path('no/a.json'));
    equal(code, 1);
    match(err, /^cannot write .*a\.json: no such directory$/m);
  });

  it('keeps the file format', async () => {
    const { code, err } = await sluice('migrate', '-c', folder.write('a.json', old), '-o', folder.path('a.toml'));
    equal(code, 2);
    match(err, /migrate does not convert formats/);
  });

  it('rejects --write together with -o', async () => {
    const { code } = await sluice('migrate', '-c', folder.write('b.json', old), '--write', '-o', folder.path('c.json'));
    equal(code, 2);
  });

  it('requires a file', async () => {
    equal((await sluice('migrate')).code, 2);
  });
});
