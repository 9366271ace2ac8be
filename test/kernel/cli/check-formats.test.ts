import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { ConfigError } from '#contract';
import { formats } from '../../../kernel/cli/formats/index.ts';
import { findingsOf } from '../../../kernel/cli/formats/report.ts';
import { parseDocument } from '../../../kernel/config/index.ts';

const source = '{\n  "port": 1,\n  "client_secret": "hunter2",\n  "timeout": "2"\n}';

function print(format: string, file = 'g.json'): string {
  const document = parseDocument(source, file);
  const errors = [
    new ConfigError('B_CODE', '/timeout', 'is wrong', { hint: '2s', related: ['/port'] }),
    new ConfigError('A_CODE', '/port', 'is taken: 100%,\nno'),
  ];
  const warnings = [new ConfigError('A_CODE', '/client_secret', 'is odd')];
  return formats.get(format)!.print(findingsOf(file, document, errors, warnings), false);
}

describe('check --format json', () => {
  it('prints one object with errors and warnings, sorted by position', () => {
    const { valid, errors, warnings } = JSON.parse(print('json'));
    equal(valid, false);
    deepEqual(errors[1], {
      file: 'g.json',
      line: 4,
      column: 14,
      endLine: 4,
      endColumn: 17,
      pointer: '/timeout',
      severity: 'error',
      code: 'B_CODE',
      namespace: 'core',
      message: 'is wrong',
      value: '"2"',
      hint: '2s',
      related: [{ pointer: '/port', file: 'g.json', line: 2, column: 11, endLine: 2, endColumn: 12 }],
    });
    deepEqual([errors[0].code, warnings[0].severity, warnings[0].value], ['A_CODE', 'warning', '***']);
  });
  it('prints valid: true for a file without errors', () => {
    const findings = findingsOf('g.json', parseDocument('{}', 'g.json'), []);
    deepEqual(JSON.parse(formats.get('json')!.print(findings, false)), { valid: true, errors: [], warnings: [] });
  });
});

describe('check --format sarif', () => {
  const run = (file?: string) => JSON.parse(print('sarif', file)).runs[0];

  it('prints a log of version 2.1.0', () => equal(JSON.parse(print('sarif')).version, '2.1.0'));
  it('lists every code once as a rule, and results refer to their rules', () => {
    const { tool, results } = run();
    const ids = tool.driver.rules.map(({ id }: { id: string }) => id);
    deepEqual(ids, ['A_CODE', 'B_CODE']);
    for (const { ruleId, ruleIndex } of results) equal(ids[ruleIndex], ruleId);
  });
  it('describes every rule, as code scanning requires', () => {
    for (const { shortDescription, fullDescription, help } of run().tool.driver.rules) {
      for (const { text } of [shortDescription, fullDescription, help]) ok(text.length > 0);
    }
  });
  it('writes the start and end position of each result', () =>
    deepEqual(run().results[1].locations[0].physicalLocation, {
      artifactLocation: { uri: 'g.json', uriBaseId: '%SRCROOT%' },
      region: { startLine: 4, startColumn: 14, endLine: 4, endColumn: 17 },
    }));
  it('includes related places', () => {
    const [{ physicalLocation, message }] = run().results[1].relatedLocations;
    equal(physicalLocation.region.startLine, 2);
    ok(message.text.includes('/port'));
  });
  it('maps severities to levels', () =>
    deepEqual(
      run().results.map(({ level }: { level: string }) => level),
      ['error', 'error', 'warning'],
    ));
  it('writes the file as a relative URI of the working directory', () => {
    const uri = (file: string) => run(file).results[0].locations[0].physicalLocation.artifactLocation;
    deepEqual(uri(join(process.cwd(), 'a b', 'g.json')), { uri: 'a%20b/g.json', uriBaseId: '%SRCROOT%' });
    deepEqual(uri('/somewhere/g.json'), { uri: 'file:///somewhere/g.json' });
  });
  it('writes a unique, stable fingerprint for every result', () => {
    const prints = () => run().results.map((result: { partialFingerprints: object }) => result.partialFingerprints);
    deepEqual(prints(), prints());
    equal(new Set(prints().map((print: object) => JSON.stringify(print))).size, 3);
  });
});

describe('check --format github', () => {
  it('prints one annotation per line, with its place', () => {
    const lines = print('github').trimEnd().split('\n');
    equal(lines.length, 3);
    equal(
      lines[1],
      '::error file=g.json,line=4,col=14,endLine=4,endColumn=17,title=B_CODE::is wrong (/timeout)%0Ahint: 2s',
    );
    match(lines[2]!, /^::warning /);
  });
  it('escapes the characters that end a message or a line', () =>
    match(print('github'), /::is taken: 100%25,%0Ano \(\/port\)\n/));
  it('escapes the characters that end a property', () =>
    match(print('github', 'a,b:c%.json'), /file=a%2Cb%3Ac%25\.json,line/));
});
