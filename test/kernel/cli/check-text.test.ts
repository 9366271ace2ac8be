import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { ConfigError, type ConfigErrorOptions } from '#contract';
import { formats } from '../../../kernel/cli/formats/index.ts';
import { findingsOf, printFindings } from '../../../kernel/cli/formats/report.ts';
import { parseDocument, UnreadableError } from '../../../kernel/config/index.ts';

const text = formats.get('text')!;

function shown(
  source: string,
  file: string,
  errors: readonly (readonly [code: string, pointer: string, options?: ConfigErrorOptions])[],
): string {
  const issues = errors.map(([code, pointer, options]) => new ConfigError(code, pointer, 'is wrong', options));
  return text.print(findingsOf(file, parseDocument(source, file), issues), false);
}

function shownUnreadable(source: string, file: string): string {
  try {
    parseDocument(source, file);
  } catch (error) {
    ok(error instanceof UnreadableError);
    return text.print(findingsOf(file, error, error.errors), false);
  }
  throw new Error('was accepted');
}

/** The excerpt of the only finding: the line and what is underlined. */
function excerptOf(printed: string): { line: string; underlined: string } {
  const [source, carets] = printed.split('\n').slice(1, 3) as [string, string];
  const start = carets.indexOf('^');
  return { line: source.slice(source.indexOf('|') + 2), underlined: source.slice(start, carets.length) };
}

describe('the text output of check', () => {
  it('has a paragraph per issue: place, message, line, underline, hint', () => {
    equal(
      shown('{\n  "version": 3,\n  "prot": 80\n}', 'g.json', [['SCHEMA_UNKNOWN_KEY', '/prot', { hint: 'port' }]]),
      [
        'g.json:3:3: error: is wrong (/prot) [SCHEMA_UNKNOWN_KEY]',
        '    3 |   "prot": 80',
        '      |   ^^^^^^',
        '    hint: port',
        '',
        '1 error',
        '',
      ].join('\n'),
    );
  });
  it('has at most a hundred paragraphs, and the number of omitted paragraphs', () => {
    const all = shown(
      '{}',
      'g.json',
      Array.from({ length: 3000 }, (_, index) => ['ANY', `/k${index}`]),
    );
    equal(all.split('[ANY]').length - 1, 100);
    equal(all.includes('and 2900 more: --format json lists all'), true);
    equal(all.trimEnd().endsWith('3000 errors'), true);
  });
  for (const [file, source] of [
    ['g.json', '{\n "a": "one two",\n "b": 1 }'],
    ['g.yaml', 'b: 1\na: "one two"'],
    ['g.toml', 'b = 1\na = "one two"'],
  ] as const) {
    it(`underlines the invalid part of a string in ${file}`, () =>
      equal(excerptOf(shown(source, file, [['ANY', '/a', { within: { start: 4, end: 7 } }]])).underlined, 'two'));
  }
  it('shows related places with their own lines', () => {
    match(
      shown('{\n "a": 1,\n "b": 2\n}', 'g.json', [['ANY', '/b', { related: ['/a'] }]]),
      / {4}note: see also \/a: g\.json:2:7\n {4}2 \| {2}"a": 1,\n {6}\| {7}\^\n/,
    );
  });
  it('is sorted by place, errors before warnings, and ends with their number', () => {
    const document = parseDocument('{\n"a": 1,\n"b": 2,\n"c": 3\n}', 'g.json');
    const at = (pointer: string) => new ConfigError('ANY', pointer, pointer);
    const printed = text.print(findingsOf('g.json', document, [at('/c'), at('/b')], [at('/a')]), false);
    deepEqual(printed.match(/^g\.json:\d+|^\d.*$/gm), ['g.json:3', 'g.json:4', 'g.json:2', '2 errors, 1 warning']);
  });
  it('is empty if nothing was reported', () => equal(shown('{}', 'g.json', []), ''));
  it('underlines a range over several lines up to the end of the first', () =>
    equal(excerptOf(shown('{\n"a": { "b": [\n1] } }', 'g.json', [['ANY', '/a']])).underlined, '{ "b": ['));
  it('has no excerpt if the file could not be read', () =>
    equal(
      text.print(findingsOf('g.json', null, [new ConfigError('CONFIG_READ', '', 'cannot read g.json')]), false),
      'g.json: error: cannot read g.json [CONFIG_READ]\n\n1 error\n',
    ));

  describe('keeps the underline below its range', () => {
    const underlined = (line: string) =>
      shown(`{\n${line}}`, 'g.json', [['ANY', '/a']])
        .split('\n')
        .slice(1, 3);

    it('after tabs', () => {
      const [line, carets] = underlined('\t"b":\t1,\t"a": 7');
      equal(carets!.indexOf('^'), line!.indexOf('7'));
      doesNotMatch(line!, /\t/);
    });
    it('after wide characters', () => {
      const [line, carets] = underlined('"b": "日本\u{1f600}", "a": 7');
      equal(carets!.indexOf('^'), [...line!].indexOf('7') + 3);
    });
    it('after control characters', () => {
      const [line, carets] = underlined('"b": "\u009b31m\u202e", "a": 7');
      equal(carets!.indexOf('^'), line!.indexOf('7'));
      doesNotMatch(line!, /[\u009b\u202e]/);
    });
  });

  describe('for a very long line', () => {
    const long = (before: string, behind: string) =>
      shown(`{"b": "${before}", "a": 12, "c": "${behind}"}`, 'g.json', [['ANY', '/a']]);

    it('shows the part around the range', () => {
      const { line, underlined } = excerptOf(long('x'.repeat(5000), 'y'.repeat(5000)));
      equal(underlined, '12');
      ok(line.length < 110);
      match(line, /^…x+", "a": 12, "c": "y+…$/);
    });
    it('does not split a character', () => {
      for (const before of ['', 'x']) {
        for (const behind of ['', 'y']) {
          const { line } = excerptOf(long(before + '\u{1f600}'.repeat(300), behind + '\u{1f600}'.repeat(300)));
          ok(line.isWellFormed());
        }
      }
    });
  });

  describe('never shows a secret', () => {
    const documents: readonly (readonly [file: string, source: string])[] = [
      ['g.json', '{ "a": 1, "client_secret": "hunter2", "b": 2 }'],
      ['g.yaml', '{ a: 1, client_secret: hunter2, b: 2 }'],
      ['g.toml', 'x = { a = 1, client_secret = "hunter2", b = 2 }'],
    ];
    for (const [file, source] of documents) {
      const base = file === 'g.toml' ? '/x' : '';
      it(`if the secret is the marked range: ${file}`, () => {
        const printed = shown(source, file, [['ANY', `${base}/client_secret`, { within: { start: 1, end: 3 } }]]);
        equal(excerptOf(printed).underlined, '***');
        doesNotMatch(printed, /hunter2/);
      });
      it(`if the secret is on the line of the marked range, which stays underlined: ${file}`, () => {
        const printed = shown(source, file, [['ANY', `${base}/b`]]);
        equal(excerptOf(printed).underlined, '2');
        doesNotMatch(printed, /hunter2/);
      });
    }
    it('if the secret spans several lines', () => {
      const source = 'key_file: |\n  -----BEGIN PRIVATE KEY-----\n  hunter2\nb: 1';
      doesNotMatch(shown(source, 'g.yaml', [['ANY', '/key_file', { within: { start: 28, end: 30 } }]]), /hunter2/);
    });
    for (const [file, source] of [
      ['g.json', '{ "a": 1, "password": "hunter2" "b": 2 }'],
      ['g.json', '{ "password": hunter2 }'],
      ['g.json', '{ "password": "hunter2'],
      ['g.json', '{ "host": ["http://me:hunter2@h" "x"] }'],
      ['g.json', '{ "pem": "-----BEGIN PRIVATE KEY-----\nhunter2" }'],
      ['g.yaml', 'password: hunter2: b'],
      ['g.toml', "password = 'hunter2' b"],
    ] as const) {
      it(`if the text cannot be parsed: ${JSON.stringify(source)}`, () =>
        doesNotMatch(shownUnreadable(source, file), /hunter2/));
    }
  });

  describe('uses colors', () => {
    const red = '\x1b[31m';
    const printedTo = (isTTY: boolean, env: NodeJS.ProcessEnv = {}): string => {
      const stderr = Object.assign(new PassThrough(), { isTTY });
      printFindings(
        { stdout: new PassThrough(), stderr, env },
        findingsOf('g.json', parseDocument('{"a":1}', 'g.json'), [new ConfigError('ANY', '/a', 'x')]),
      );
      return String(stderr.read());
    };

    it('on a terminal', () => ok(printedTo(true).includes(red)));
    it('only on a terminal', () => ok(!printedTo(false).includes(red)));
    it('only without NO_COLOR', () => ok(!printedTo(true, { NO_COLOR: '1' }).includes(red)));
  });

  for (const [file, item] of [
    ['g.json', (index: number) => `{ "a": ${index}, "password": "x" },\n`],
    ['g.yaml', (index: number) => `- { a: ${index}, password: x }\n`],
    ['g.toml', (index: number) => `[[list]]\na = ${index}\npassword = "x"\n`],
  ] as const) {
    it(`runs in time proportional to the number of issues: ${file}`, function () {
      this.timeout(20_000);
      const items = Array.from({ length: 10_000 }, (_, index) => item(index)).join('');
      const source = { 'g.json': `{"list": [${items.slice(0, -2)}]}`, 'g.yaml': `list:\n${items}`, 'g.toml': items }[
        file
      ];
      const errors = Array.from({ length: 5000 }, (_, index) => ['ANY', `/list/${index * 2}/a`] as const);
      match(shown(source, file, errors), /\n5000 errors\n$/);
    });
  }
});
