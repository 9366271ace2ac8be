import { deepEqual, doesNotThrow, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

describe('the output streams and exit codes of check', () => {
  let folder: Folder;
  const file = (name: string, text: string): string => folder.write(name, text);
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  it('print errors to standard error in the text format', async () => {
    const path = file('bad.json', '{\n  "version": 3,\n  "prot": 1\n}');
    const { code, out, err } = await sluice('check', '-c', path);
    deepEqual([code, out], [1, `Parsing configuration file: ${path}\n`]);
    match(err, /bad\.json:3:3: error: .*\(\/prot\) \[SCHEMA_UNKNOWN_KEY\]\n {4}3 \| {3}"prot": 1\n {6}\| {3}\^{6}\n/);
    match(err, /\n1 error\n$/);
  });
  it('print warnings to standard error and exit 0', async () => {
    const { code, out, err } = await sluice('check', '-c', file('odd.json', '{ "version": 3 /* why */ }'));
    equal(code, 0);
    match(out, /Syntax OK!\n$/);
    match(err, /odd\.json:1:16: warning: .*\[CONFIG_COMMENTS\]\n/);
  });
  for (const [name, text] of [
    ['broken.json', '{\n  "version": 3\n  "port": 1,\n}'],
    ['broken.yaml', 'version: 3\nname: "a\n'],
    ['broken.toml', 'version = \n'],
  ] as const) {
    it(`show the line of a syntax error: ${name}`, async () => {
      const { code, err } = await sluice('check', '-c', file(name, text));
      equal(code, 1);
      match(err, /broken\.\w+:\d+:\d+: error: .* \[CONFIG_SYNTAX\]\n {4}\d \| .*\n {6}\| +\^/);
    });
  }
  for (const format of ['json', 'sarif']) {
    for (const [name, text, expected] of [
      ['good', '{"version":3}', 0],
      ['bad', '{"version":3,"prot":1}', 1],
      ['broken', '{"version":3,}', 1],
    ] as const) {
      it(`contain only the result as ${format}, with exit code ${expected}, for a ${name} configuration`, async () => {
        const { code, out, err } = await sluice('check', '-c', file('f.json', text), '-d', '--format', format);
        deepEqual([code, err], [expected, '']);
        doesNotThrow(() => JSON.parse(out));
      });
    }
  }
  it('include the place of a syntax error in JSON', async () => {
    const { out } = await sluice('check', '-c', file('f.json', '{\n"version": 3,\n}'), '--format', 'json');
    const [{ line, column, endColumn, code, message }] = JSON.parse(out).errors;
    deepEqual([line, column, endColumn, code], [2, 13, 14, 'CONFIG_SYNTAX']);
    match(message, /^trailing comma/);
  });
  it('name a missing file in JSON', async () => {
    const { code, out } = await sluice('check', '-c', folder.path('none.json'), '--format', 'json');
    deepEqual([code, JSON.parse(out).errors[0].code], [1, 'CONFIG_READ']);
  });
  it('contain annotations for GitHub', async () => {
    const { code, out } = await sluice('check', '-c', file('f.json', '{"version":3,}'), '--format', 'github');
    equal(code, 1);
    match(out, /^::error file=.*,line=1,col=13,endLine=1,endColumn=14,title=CONFIG_SYNTAX::trailing comma/);
  });
  it('reject an unknown format with the usage', async () => {
    const { code, err } = await sluice('check', '-c', 'x', '--format', 'toString');
    equal(code, 2);
    match(err, /unknown format "toString" \(one of text, json, sarif, github\)\n\nusage: sluice check /);
  });
  it('consist of the usage and exit code 2 if no file is given', async () => {
    const { code, out } = await sluice('check', '--format', 'json');
    deepEqual([code, out], [2, '']);
  });
  it('are the same as those of run for a rejected configuration', async () => {
    const path = file('bad.json', '{\n  "version": 3,\n  "prot": 1\n}');
    const { code, err } = await sluice('run', '-c', path);
    equal(code, 1);
    match(
      err,
      /ERROR parsing the configuration file:\n.*bad\.json:3:3: error: .*\n {4}3 \| {3}"prot": 1\n {6}\| {3}\^{6}\n/,
    );
  });
});
