import { deepEqual, equal, match } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { rememberingSinks } from '../../support/gateway.ts';
import { createFolder, type Folder } from '../cli/command.ts';

describe('the log of a gateway', () => {
  let folder: Folder;
  let gateway: Gateway;
  const sinks = rememberingSinks();
  const good = { version: 3, endpoints: [] };
  const refused = () => sinks.lines.filter((line) => line.includes('configuration refused'));

  beforeEach(async () => {
    folder = createFolder();
    gateway = await createGateway(folder.write('gateway.json', good), { port: 0, sinks });
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway.close();
    folder.remove();
  });

  const reload = (config: unknown) => {
    folder.write('gateway.json', config);
    return gateway.reload().catch(() => {});
  };

  it('tells place, pointer, code and hint of a mistake that refused a configuration', async () => {
    await reload('{\n  "version": 3,\n  "prot": 1\n}');
    equal(refused().length, 1);
    match(
      refused()[0]!,
      /configuration refused; revision 1 stays active: .*gateway\.json:3:3: .*\(\/prot\) \[SCHEMA_UNKNOWN_KEY\]; hint: port$/m,
    );
  });

  it('has a line for every mistake', async () => {
    await reload('{\n  "version": 3,\n  "prot": 1,\n  "timeuot": "2s"\n}');
    deepEqual(
      refused().map((line) => /:(\d+:\d+): /.exec(line)![1]),
      ['3:3', '4:3'],
    );
  });

  it('counts the mistakes behind the twentieth', async () => {
    const unknown = Array.from({ length: 25 }, (_, at) => [`zz${at}`, 1]);
    await reload({ ...good, ...Object.fromEntries(unknown) });
    equal(refused().length, 21);
    match(refused().at(-1)!, /stays active: and 5 more$/m);
  });

  it('places a syntax error', async () => {
    await reload('{\n  "version": 3,,\n}');
    match(refused()[0]!, /gateway\.json:2:\d+: .* \[CONFIG_SYNTAX\]/);
  });

  it('says of a file that is gone that it is', async () => {
    rmSync(folder.path('gateway.json'));
    await gateway.reload().catch(() => {});
    match(refused()[0]!, /stays active: cannot read .*gateway\.json: no such file \[CONFIG_READ\]/);
  });

  it('tells that a refused file is as before again', async () => {
    const unchanged = () => sinks.lines.filter((line) => line.includes('INFO: revision 1 stays active: unchanged'));
    await reload(good);
    equal(unchanged().length, 0);
    await reload('{');
    await reload(good);
    equal(unchanged().length, 1);
  });

  it('places the warnings of a configuration that serves', async () => {
    const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
    await reload({
      version: 3,
      endpoints: [{ endpoint: '/a', extra_config: { proxy: { sequential: true } }, backend }],
    });
    match(sinks.lines.find((line) => line.includes('WARNING'))!, /gateway\.json:\d+:\d+: .* \[PROXY_IDLE\]/);
  });

  it('tells what serves instead of what', async () => {
    await reload({ ...good, name: 'b' });
    match(
      sinks.lines.find((line) => line.includes('now serving'))!,
      /now serving revision 2 \([0-9a-f]{12}\), replacing 1: /,
    );
  });
});
