import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const commands = [
  ...['run', 'check', 'audit', 'routes', 'explain', 'migrate', 'diff', 'schema'],
  ...['status', 'reload', 'rollback', 'history', 'events', 'version'],
];

describe('the help of the command line', () => {
  it('lists every command with a summary', async () => {
    const { code, out, err } = await sluice('help');
    deepEqual([code, err], [0, '']);
    for (const command of commands) match(out, new RegExp(`^ {2}${command} +[A-Z].*\\.$`, 'm'));
  });

  it('is printed if no command is given', async () => {
    equal((await sluice()).out, (await sluice('--help')).out);
  });

  it('lists every environment variable in use', async () => {
    const { out } = await sluice('--help');
    for (const name of ['GATEWAY_<FIELD>', 'KRAKEND_<FIELD>', 'GATEWAY_ADMIN_LISTEN', 'GATEWAY_ADMIN_TOKEN']) {
      ok(out.includes(`  ${name} `), name);
    }
    for (const name of ['GATEWAY_STATE_DIR', 'STATE_DIRECTORY', 'XDG_STATE_HOME', 'NO_COLOR']) {
      ok(out.includes(`  ${name} `), name);
    }
  });

  for (const command of commands) {
    it(`explains every flag of ${command} in a sentence`, async () => {
      const { code, out } = await sluice(command, '--help');
      equal(code, 0);
      const flags = out.split('Flags:\n')[1]!.split('\n\n')[0]!.trimEnd().split('\n');
      for (const line of flags) match(line, /^ {2}(?:-\w,| {3}) --[a-z0-9-]+(?: \S+| '.*')? {2,}[A-Za-z].*\.$/);
    });

    it(`is the same for ${command} -h and help ${command}`, async () => {
      equal((await sluice('help', command)).out, (await sluice(command, '-h')).out);
    });
  }

  it('shows the defaults of flags', async () => {
    const { out } = await sluice('check', '--help');
    match(out, /--format FORMAT .* Default: text\.$/m);
    match(out, /-i, --indent SPACE .* Default: a tab\.$/m);
  });

  it('lists a flag that is on by default with its --no- form', async () => {
    match((await sluice('run', '--help')).out, /^ {6}--no-watch /m);
  });
});

describe('a wrong call of the command line', () => {
  let folder: Folder;
  let file: string;
  before(() => {
    folder = createFolder();
    file = folder.write('ok.json', { version: 3, endpoints: [] });
  });
  after(() => folder.remove());

  for (const [sentence, message, args] of [
    ['an unknown command', 'unknown command "chekc"; did you mean "check"?', () => ['chekc']],
    ['help for an unknown command', 'unknown command "nope"', () => ['help', 'nope']],
    [
      'an unknown flag',
      'unknown flag "--frmat"; did you mean "--format"?',
      () => ['check', '--frmat', 'json', '-c', file],
    ],
    ['an unknown short flag', 'unknown flag "-z"', () => ['check', '-z']],
    ['a flag without its value', "Option '-c, --config <value>' argument missing", () => ['audit', '-c']],
    ['a second file', 'unexpected argument "x.json"', () => ['check', '-c', file, 'x.json']],
    ['an argument of version', "Unexpected argument 'x'", () => ['version', 'x']],
    [
      'a method that no endpoint has',
      'unknown method "NOPE" (one of GET, POST',
      () => ['routes', '-c', file, '--method', 'NOPE'],
    ],
    [
      'an unknown component',
      'unknown namespace "prxy"; did you mean "proxy"?',
      () => ['routes', '-c', file, '--namespace', 'prxy'],
    ],
    [
      'an indentation that is not a number',
      '--indent must be white space, not  x',
      () => ['check', '-d', '-i', 'x', '-c', file],
    ],
    ['an empty indentation', '--indent requires --debug', () => ['check', '-i', ' ', '-c', file]],
    ['a missing list file', 'cannot read /none: no such file\n', () => ['audit', '-c', file, '-I', '/none']],
    [
      'a token file that is a folder',
      'cannot read /tmp: is a directory\n',
      () => ['status', '--admin', ':1', '--admin-token-file', '/tmp'],
    ],
    ['a missing CA file', 'cannot read /none: no such file\n', () => ['status', '--admin', ':1', '--ca', '/none']],
    ['run without a file', '-c FILE', () => ['run']],
    ['check without a file', '-c FILE', () => ['check']],
    ['migrate without a file', '-c FILE', () => ['migrate']],
    ['routes without a file', '-c FILE', () => ['routes']],
  ] as [string, string, () => string[]][]) {
    it(`exits with status 2 and prints the error: ${sentence}`, async () => {
      const { code, out, err } = await sluice(...args());
      deepEqual([code, out], [2, '']);
      ok(err.includes(message), err);
    });
  }

  it('prints the usage and how to get help', async () => {
    const { err } = await sluice('audit');
    match(err, /\n\nusage: sluice audit \[FILE\] \[FLAGS\]\nRun sluice help audit for details\.\n$/);
  });
});
