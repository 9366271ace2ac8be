import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { statSync } from 'node:fs';
import { ConfigError, type DataObject, type Fix } from '#contract';
import { fixFile } from '../../../kernel/cli/check/fix.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createFolder, type Folder, sluice } from './command.ts';

const issue = (pointer: string, fix?: Fix) => new ConfigError('TEST', pointer, 'is wrong', { fix });

describe('fixing a configuration file', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  /** Fixes a file. The test provides the issues of each round. */
  const fix = async (name: string, text: string, examine: (data: DataObject) => ConfigError[]) => {
    const file = folder.write(name, text);
    const lines: string[] = [];
    await fixFile(
      file,
      async ({ data }) => examine(data as DataObject),
      (line) => lines.push(line),
    );
    return { text: folder.read(name), lines: lines.map((line) => line.replace(file, name)) };
  };

  /** Reports an issue with a fix as long as a key exists. */
  const whileThere = (key: string, fix: Fix) => (data: DataObject) => (key in data ? [issue(`/${key}`, fix)] : []);

  it('renames a misspelled key and reports the place of the change', async () => {
    const examine = whileThere('headers_to_pass', { key: 'input_headers' });
    deepEqual(await fix('a.json', '{\n  "headers_to_pass": [] // why\n}\n', examine), {
      text: '{\n  "input_headers": [] // why\n}\n',
      lines: ["a.json:2:3: fixed: 'headers_to_pass' is now 'input_headers'\n"],
    });
  });

  it('replaces an invalid value and reports the new one', async () => {
    const examine = (data: DataObject) => (data['timeout'] === '2' ? [issue('/timeout', { value: '2s' })] : []);
    deepEqual(await fix('a.yaml', 'timeout: "2"\n', examine), {
      text: 'timeout: "2s"\n',
      lines: [`a.yaml:1:10: fixed: 'timeout' is now "2s"\n`],
    });
  });

  it('does not print a secret', async () => {
    const examine = (data: DataObject) => (data['password'] === 'a' ? [issue('/password', { value: 'b' })] : []);
    const { lines } = await fix('a.json', '{"password":"a"}', examine);
    deepEqual(lines, [`a.json:1:13: fixed: 'password' is now "***"\n`]);
  });

  it('corrects syntax errors, then other errors', async () => {
    deepEqual(await fix('a.json', '{\n  "a": [1, 2,],\n}\n', whileThere('a', { key: 'b' })), {
      text: '{\n  "b": [1, 2]\n}\n',
      lines: [
        'a.json:2:13: fixed: trailing comma\n',
        'a.json:2:14: fixed: trailing comma\n',
        "a.json:2:3: fixed: 'a' is now 'b'\n",
      ],
    });
  });

  it('writes the corrections of a text that still cannot be parsed', async () => {
    const path = folder.write('a.json', '{\n  "a": [1,],\n  "b": one\n}\n');
    const lines: string[] = [];
    const examine = async () => [];
    await rejects(
      fixFile(path, examine, (line) => lines.push(line)),
      ConfigErrors,
    );
    equal(folder.read('a.json'), '{\n  "a": [1],\n  "b": one\n}\n');
    deepEqual(lines, [`${path}:2:10: fixed: trailing comma\n`]);
  });

  it('checks the file again after the first corrections', async () => {
    const examine = (data: DataObject) => [
      ...whileThere('a', { key: 'b' })(data),
      ...whileThere('b', { key: 'c' })(data),
    ];
    equal((await fix('a.json', '{"a":1}', examine)).text, '{"c":1}');
  });

  it('stops after five rounds', async () => {
    let rounds = 0;
    const endless = (data: DataObject) => {
      rounds++;
      return [issue('/n', { value: Number(data['n']) + 1 })];
    };
    equal((await fix('a.json', '{"n":0}', endless)).text, '{"n":5}');
    equal(rounds, 5);
  });

  it('applies the outer of two nested fixes first, and the inner one in the next round', async () => {
    const examine = (data: DataObject) => {
      const holder = 'old' in data ? 'old' : 'new';
      const inner = data[holder] as DataObject;
      return [
        ...('x' in inner ? [issue(`/${holder}/x`, { key: 'y' })] : []),
        ...whileThere('old', { key: 'new' })(data),
      ];
    };
    const { text, lines } = await fix('a.json', '{"old":{"x":1}}', examine);
    equal(text, '{"new":{"y":1}}');
    deepEqual(
      lines.map((line) => line.split('fixed: ')[1]),
      ["'old' is now 'new'\n", "'x' is now 'y'\n"],
    );
  });

  it('skips a rename if the correct key exists too, and applies the other fixes', async () => {
    const examine = (data: DataObject) => [
      ...whileThere('old', { key: 'new' })(data),
      ...whileThere('a', { key: 'b' })(data),
    ];
    equal((await fix('a.json', '{"old":1,"new":2,"a":3}', examine)).text, '{"old":1,"new":2,"b":3}');
  });

  it('does not write a file that needs no fixes', async () => {
    const file = folder.write('a.json', '{}');
    const { ino } = statSync(file);
    await fixFile(
      file,
      async () => [issue('')],
      () => {},
    );
    equal(statSync(file).ino, ino);
  });

  it('reports a text that cannot be parsed', async () => {
    const file = folder.write('a.json', '{');
    await rejects(
      fixFile(
        file,
        async () => [],
        () => {},
      ),
      ConfigErrors,
    );
  });
});

describe('check --fix', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const slips = `{
  "version": 3,
  "endpoints": [{ "endpoint": "a", "headers_to_pass": ["A"], "backend": [{ "url_pattern": "/", "host": ["http://h"] }] }]
}
`;
  const fixed = slips.replace('"a"', '"/a"').replace('headers_to_pass', 'input_headers');

  it('fixes the file, lists the fixes and then reports no errors', async () => {
    const file = folder.write('slips.json', slips);
    const { code, out, err } = await sluice('check', '--fix', '-c', file);
    equal(code, 0);
    ok(out.endsWith('Syntax OK!\n'));
    ok(err.includes(`${file}:3:36: fixed: 'headers_to_pass' is now 'input_headers'\n`));
    equal(folder.read('slips.json'), fixed);
  });

  it('exits 1 if errors remain that it cannot fix', async () => {
    const file = folder.write('left.json', slips.replace('"version": 3', '"version": 3, "timeout": "x"'));
    const { code, err } = await sluice('check', '--fix', '-c', file);
    equal(code, 1);
    match(err, /fixed: 'headers_to_pass'[\s\S]*DURATION_INVALID/);
  });

  it('reports a file that cannot be read', async () => {
    const { code, err } = await sluice('check', '--fix', '-c', folder.write('broken.json', '{'));
    equal(code, 1);
    match(err, /CONFIG_SYNTAX/);
  });

  it('is the only way in which check writes to the file', async () => {
    await sluice('check', '-c', folder.write('asked.json', slips));
    equal(folder.read('asked.json'), slips);
  });
});
