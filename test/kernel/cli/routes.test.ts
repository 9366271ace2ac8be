import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { main } from '../../../kernel/cli/main.ts';
import { createFolder, type Folder, sluice } from './command.ts';
import { contextOf } from './running.ts';

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/b' }];
const config = {
  version: 3,
  endpoints: [
    { endpoint: '/shop/{id}', backend, extra_config: { 'qos/ratelimit/router': { max_rate: 5 } } },
    { endpoint: '/shop', method: 'POST', backend },
    { endpoint: '/other', backend },
    { endpoint: '/all', method: 'ANY', backend },
  ],
};

describe('routes', () => {
  let folder: Folder;
  let file: string;
  before(() => {
    folder = createFolder();
    file = folder.write('gateway.json', config);
  });
  after(() => folder.remove());

  it('lists endpoints in aligned columns, each followed by its backends', async () => {
    const { code, out } = await sluice('routes', '-c', file);
    equal(code, 0);
    const [heading, first, second, ...rest] = out.trimEnd().split('\n') as [string, string, string, ...string[]];
    equal(rest.length, 6);
    match(first, /^GET +\/shop\/\{id\} +json +2000ms +qos\/ratelimit\/router /);
    match(second, /^ +GET http:\/\/127\.0\.0\.1:9\/b \(json\) +backend\/http\/client /);
    equal(first.indexOf('/shop'), heading.indexOf('ENDPOINT'));
    equal(second.indexOf('GET http'), heading.indexOf('BACKEND'));
  });

  it('ends each line with its place in the file', async () => {
    const { out } = await sluice('routes', '-c', file);
    const line = folder.read('gateway.json').split('\n').indexOf('    {') + 1;
    equal(out.split('\n')[1]!.endsWith(`${file}:${line}:5`), true);
  });

  describe('on a terminal', () => {
    const linesAt = async (columns: number): Promise<string[]> => {
      const { context, prints } = contextOf({});
      Object.assign(context.stdout, { isTTY: true, columns });
      await main(['routes', '-c', file], context);
      return prints.out.trimEnd().split('\n');
    };

    it('shortens long cells to the width of the terminal, in aligned columns, keeping both ends', async () => {
      const lines = await linesAt(100);
      for (const line of lines) ok(line.length <= 100, line);
      const [heading, first, second] = lines as [string, string, string];
      match(first, /^GET +\/shop\/\{id\} +json +2000ms +\S*…\S* +\S*…\S*:5$/);
      equal(second.indexOf('GET ht'), heading.indexOf('BACKEND'));
      match(second, /GET ht\S*….*\(json\) /);
    });

    it('does not shorten lines that fit', async () => {
      const { out } = await sluice('routes', '-c', file);
      deepEqual(await linesAt(500), out.trimEnd().split('\n'));
    });

    it('keeps cells readable in a very narrow terminal', async () => {
      match((await linesAt(20))[1]!, /^GET {5}\S+…\S+ /);
    });
  });

  it('lists the endpoints that the flags select', async () => {
    const { out } = await sluice('routes', '-c', file, '--method', 'get', '--prefix', '/shop', '--format', 'json');
    deepEqual(
      JSON.parse(out).routes.map(({ id }: { id: string }) => id),
      ['GET /shop/{id}'],
    );
  });

  it('lists endpoints with the method ANY under each method', async () => {
    const { out } = await sluice('routes', '-c', file, '--method', 'patch', '--format', 'json');
    deepEqual(
      JSON.parse(out).routes.map(({ id, backends }: { id: string; backends: { method: string }[] }) => [
        id,
        backends[0]!.method,
      ]),
      [['ANY /all', '*']],
    );
  });

  it('lists the endpoints that have a component', async () => {
    const { out } = await sluice('routes', '-c', file, '--namespace', 'qos/ratelimit/router', '--format', 'json');
    deepEqual(
      JSON.parse(out).routes.map(({ id }: { id: string }) => id),
      ['GET /shop/{id}'],
    );
  });

  it('exits 0 if no endpoint is listed', async () => {
    const { code, out } = await sluice('routes', '-c', file, '--prefix', '/none', '--format', 'json');
    deepEqual([code, JSON.parse(out)], [0, { routes: [] }]);
  });

  it('reports the errors of a configuration and exits 1', async () => {
    const { code, out, err } = await sluice('routes', '-c', folder.write('bad.json', '{"version": 3, "prot": 1}'));
    deepEqual([code, out], [1, '']);
    match(err, /prot/);
  });

  it('requires a file and a known format', async () => {
    equal((await sluice('routes')).code, 2);
    equal((await sluice('routes', '-c', file, '--format', 'xml')).code, 2);
  });
});
