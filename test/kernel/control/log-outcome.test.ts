import { deepEqual, equal, match } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { Log, LogMessage } from '#contract';
import type { Issue } from '../../../kernel/config/index.ts';
import { type Attempt, Attempts } from '../../../kernel/control/attempts.ts';
import type { Applied } from '../../../kernel/control/change.ts';
import type { Control } from '../../../kernel/control/control.ts';
import { logOutcome } from '../../../kernel/control/log-outcome.ts';
import { createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { rememberingSinks } from '../../support/gateway.ts';
import { createFolder, type Folder } from '../cli/command.ts';

const issue = (code: string): Issue => ({
  code,
  pointer: '/port',
  severity: 'error',
  namespace: 'core',
  message: 'wrong',
});

const codes = (count: number) => Array.from({ length: count }, (_, at) => issue(`CODE_${at}`));

describe('the log of configuration changes', () => {
  let lines: string[];
  let settled: Control['onSettled'];

  beforeEach(() => {
    lines = [];
    settled = [];
    const at = (level: string) => (message: LogMessage) => {
      lines.push(`${level}: ${typeof message === 'string' ? message : message()}`);
    };
    const log: Log = {
      debug: at('debug'),
      info: at('info'),
      warning: at('warning'),
      error: at('error'),
      critical: at('critical'),
      at: () => log,
    };
    logOutcome({ onSettled: settled } as unknown as Control, log);
  });

  const attempted = (revision: number, problem: Partial<Attempt['problem']> = null): Attempt => ({
    ...new Attempts().begin({ trigger: 'api' }, revision),
    problem: problem && { slug: 'build', phase: 'build', issues: [], warnings: [], message: '', hidden: 0, ...problem },
  });

  const applies = (more: Partial<Applied>, saved?: readonly string[]) => {
    const applied: Applied = {
      result: 'applied',
      revision: 2,
      previous: 1,
      hash: '0123456789abcdef',
      attempt: 1,
      durationMs: 5,
      phases: { read: 1, swap: 2.5 },
      changes: { added: [], changed: [], removed: [] },
      rebound: [],
      warnings: [],
      issues: [],
      ...more,
    };
    settled[0]!(attempted(2), applied, { trigger: 'watch', saved });
  };
  const fails = (attempt: Attempt) => settled[0]!(attempt, null, { trigger: 'api' });

  it('names the active configuration, its changes, the listen address and the duration of each step', () => {
    applies({
      changes: { added: ['a'], changed: ['b', 'c'], removed: ['d', 'e', 'f'] },
      rebound: ['[::]:1', '[::]:2'],
    });
    deepEqual(lines, [
      'info: now serving revision 2 (0123456789ab), replacing 1: endpoints 1 added, 2 changed, 3 removed' +
        '; now listening on [::]:1; now listening on [::]:2; read 1 ms, swap 2.5 ms',
    ]);
  });

  it('names the saved files that caused a change, up to five', () => {
    applies({}, ['/etc/tls/cert.pem']);
    applies({}, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    deepEqual(
      lines.map((line) => line.replace(/: endpoints.*/, '')),
      [
        'info: now serving revision 2 (0123456789ab), replacing 1 after a change of /etc/tls/cert.pem',
        'info: now serving revision 2 (0123456789ab), replacing 1 after a change of a, b, c, d, e and 2 more',
      ],
    );
  });

  it('contains warnings only for the first configuration', () => {
    applies({ revision: 1, previous: 0, issues: [issue('ODD')] });
    deepEqual(lines, ['warning: wrong (/port) [ODD]']);
  });

  for (const result of ['unchanged', 'dry_run'] as const) {
    it(`contains an attempt with the result ${result} at DEBUG only, without its warnings`, () => {
      applies({ result, revision: 1, issues: [issue('ODD')] });
      deepEqual(lines, [`debug: revision 1 stays active: ${result}`]);
    });
  }

  it('contains one line when the rejected file was corrected', () => {
    fails(attempted(1, { issues: [issue('SCHEMA_TYPE')] }));
    lines.length = 0;
    applies({ result: 'unchanged', revision: 1 });
    applies({ result: 'unchanged', revision: 1 });
    deepEqual(lines, ['info: revision 1 stays active: unchanged', 'debug: revision 1 stays active: unchanged']);
  });

  const refused = (...reported: string[]) =>
    reported.map((text) => `error: configuration refused; revision 1 stays active: ${text}`);

  it('contains the message of a rejection that has no position in the file', () => {
    fails(attempted(1, { message: 'a worker is late' }));
    deepEqual(lines, refused('a worker is late'));
  });

  it('contains up to twenty errors of a rejection', () => {
    fails(attempted(1, { issues: codes(20) }));
    deepEqual(lines, refused(...codes(20).map(({ code }) => `wrong (/port) [${code}]`)));
  });

  it('contains the number of further errors, including those that were not stored', () => {
    fails(attempted(1, { issues: codes(23), hidden: 100 }));
    deepEqual([lines.length, lines.at(-1)], [21, ...refused('and 103 more')]);
  });

  it('omits a rejection at startup, which the caller reports', () => {
    fails(attempted(0, { issues: codes(1) }));
    deepEqual(lines, []);
  });
});

describe('the log of a gateway that reloads', () => {
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

  it('contains place, pointer, code and hint of an error', async () => {
    await reload('{\n  "version": 3,\n  "prot": 1\n}');
    equal(refused().length, 1);
    match(
      refused()[0]!,
      /configuration refused; revision 1 stays active: .*gateway\.json:3:3: .*\(\/prot\) \[SCHEMA_UNKNOWN_KEY\]; hint: port$/m,
    );
  });

  it('has a line for every error', async () => {
    await reload('{\n  "version": 3,\n  "prot": 1,\n  "timeuot": "2s"\n}');
    deepEqual(
      refused().map((line) => /:(\d+:\d+): /.exec(line)![1]),
      ['3:3', '4:3'],
    );
  });

  it('lists twenty errors and then the number of further errors', async () => {
    const unknown = Array.from({ length: 25 }, (_, at) => [`zz${at}`, 1]);
    await reload({ ...good, ...Object.fromEntries(unknown) });
    equal(refused().length, 21);
    match(refused().at(-1)!, /stays active: and 5 more$/m);
  });

  it('contains the place of a syntax error', async () => {
    await reload('{\n  "version": 3,,\n}');
    match(refused()[0]!, /gateway\.json:2:\d+: .* \[CONFIG_SYNTAX\]/);
  });

  it('contains a line for a missing file', async () => {
    rmSync(folder.path('gateway.json'));
    await gateway.reload().catch(() => {});
    match(refused()[0]!, /stays active: cannot read .*gateway\.json: no such file \[CONFIG_READ\]/);
  });

  it('contains a line when a rejected file was restored', async () => {
    const unchanged = () => sinks.lines.filter((line) => line.includes('INFO: revision 1 stays active: unchanged'));
    await reload(good);
    equal(unchanged().length, 0);
    await reload('{');
    await reload(good);
    equal(unchanged().length, 1);
  });

  it('contains the places of warnings', async () => {
    const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
    await reload({
      version: 3,
      endpoints: [{ endpoint: '/a', extra_config: { proxy: { sequential: true } }, backend }],
    });
    match(sinks.lines.find((line) => line.includes('WARNING'))!, /gateway\.json:\d+:\d+: .* \[PROXY_IDLE\]/);
  });

  it('names the active configuration and the one that it replaces', async () => {
    await reload({ ...good, name: 'b' });
    match(
      sinks.lines.find((line) => line.includes('now serving'))!,
      /now serving revision 2 \([0-9a-f]{12}\), replacing 1: /,
    );
  });
});
