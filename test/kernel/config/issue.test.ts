import { deepEqual, equal, ok } from 'node:assert/strict';
import { ConfigError, type ConfigErrorOptions } from '#contract';
import { type Issue, parseDocument, toIssues } from '../../../kernel/config/index.ts';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';

const texts: Readonly<Record<string, string>> = {
  'g.json': `{
  "prot": 1,
  "host": ["http://h", "a\\nbad"],
  "endpoints": [
    { "timeout": "2" }
  ]
}`,
  'g.yaml': `
prot: 1
host: ["http://h", "a\\nbad"]
endpoints:
  - timeout: "2"
`,
  'g.toml': `
prot = 1
host = ["http://h", "a\\nbad"]
[[endpoints]]
timeout = "2"
`,
};

function issueOf(text: string, file: string, code: string, pointer: string, options?: ConfigErrorOptions): Issue {
  const [issue] = toIssues(parseDocument(text, file), [new ConfigError(code, pointer, 'is wrong', options)], 'error');
  return issue!;
}

/** The text at the place of an issue. */
function marked(text: string, { line, column, endLine, endColumn }: Partial<Issue>): string {
  const lines = text.split('\n').slice(line! - 1, endLine);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, endColumn! - 1);
  return lines.join('\n').slice(column! - 1);
}

describe('an issue of a configuration', () => {
  for (const [file, text] of Object.entries(texts)) {
    const at = (code: string, pointer: string, options?: ConfigErrorOptions) =>
      marked(text, issueOf(text, file, code, pointer, options));

    describe(`in ${file}`, () => {
      it('with an unknown key points to the key', () =>
        equal(at('SCHEMA_UNKNOWN_KEY', '/prot').replaceAll('"', ''), 'prot'));
      it('with a suggested correction of a key points to the key', () =>
        equal(at('ANY', '/prot', { fix: { key: 'port' } }).replaceAll('"', ''), 'prot'));
      it('with an invalid value points to the value', () => equal(at('SCHEMA_TYPE', '/endpoints/0/timeout'), '"2"'));
      it('within a string points to that part, through escapes', () =>
        equal(at('ANY', '/host/1', { within: { start: 2, end: 4 } }), 'ba'));
      it('with a missing key points to the object that lacks it', () => {
        const { line } = issueOf(text, file, 'SCHEMA_REQUIRED', '/endpoints/0');
        equal(line, text.split('\n').findIndex((content) => /timeout|\[\[/.test(content)) + 1);
      });
      it('with an absent value points to the nearest existing parent', () => {
        const { line } = issueOf(text, file, 'ANY', '/endpoints/0/backend/0/host');
        equal(line, issueOf(text, file, 'ANY', '/endpoints/0').line);
      });
      it('includes the places of related values', () => {
        const { related } = issueOf(text, file, 'ANY', '/prot', { related: ['/host/0'] });
        deepEqual(
          related?.map((place) => [place.file, place.pointer, marked(text, place)]),
          [[file, '/host/0', '"http://h"']],
        );
      });
      it('in a text that cannot be parsed points to the syntax error', () => {
        const broken = `${text}\n=: "`;
        let errors: readonly ConfigError[] = [];
        try {
          parseDocument(broken, file);
        } catch (error) {
          errors = (error as ConfigErrors).errors;
        }
        const [issue] = toIssues(null, errors, 'error');
        equal(issue?.file, file);
        ok(issue!.line! >= text.split('\n').length);
        ok(!issue!.message.includes(file));
      });
    });
  }

  it('without a document has no file and no place', () => {
    const [issue] = toIssues(null, [new ConfigError('CONFIG_READ', '', 'cannot read')], 'error');
    deepEqual(issue, {
      pointer: '',
      severity: 'error',
      code: 'CONFIG_READ',
      namespace: 'core',
      message: 'cannot read',
    });
  });

  describe('has as its namespace', () => {
    const namespace = (pointer: string) => issueOf('{}', 'g.json', 'ANY', pointer).namespace;

    it('"core" outside of components', () => equal(namespace('/endpoints/0/timeout'), 'core'));
    it('"core" at the object extra_config itself', () => equal(namespace('/endpoints/0/extra_config'), 'core'));
    it('the component that contains it', () =>
      equal(namespace('/endpoints/0/extra_config/auth~1validator/alg'), 'auth/validator'));
    it('the component that it points to', () => equal(namespace('/extra_config/security~1cors'), 'security/cors'));
    it('the innermost of nested components', () =>
      equal(namespace('/extra_config/workflow/endpoints/0/extra_config/proxy/static'), 'proxy'));
  });

  describe('has as its value', () => {
    const value = (data: unknown, pointer: string, code = 'ANY') =>
      issueOf(JSON.stringify(data), 'g.json', code, pointer).value;

    it('compact JSON', () => equal(value({ a: { b: [1, 'x'] } }, '/a'), '{"b":[1,"x"]}'));
    it('a number with all its digits', () => {
      const [issue] = toIssues(
        parseDocument('{"a": 12345678901234567890}', 'g.json'),
        [new ConfigError('ANY', '/a', 'x')],
        'error',
      );
      equal(issue?.value, '12345678901234567890');
    });
    it('null for a missing key', () => equal(value({ a: {} }, '/a', 'SCHEMA_REQUIRED'), undefined));
    it('null for an absent value', () => equal(value({ a: {} }, '/a/b'), undefined));
    it('200 characters of a longer text', () => {
      const shown = value({ a: 'x'.repeat(300) }, '/a');
      deepEqual([shown?.length, shown?.slice(0, 3)], [200, '"xx']);
    });
    it('whole characters only, even if the text is truncated within a surrogate pair', () =>
      equal(value({ a: `${'x'.repeat(198)}\u{1f600}` }, '/a')?.length, 199));
    it('200 characters of a large list, without printing the whole list', () => {
      const shown = value({ a: Array.from({ length: 100_000 }, () => 1) }, '/a');
      equal(shown, JSON.stringify(Array(200).fill(1)).slice(0, 200));
    });
    for (const [name, data, pointer] of [
      ['a field with the name of a secret', { client_secret: 'hunter2' }, '/client_secret'],
      ['a number where a secret belongs', { password: 1234 }, '/password'],
      ['an item of a list of tokens', { tokens: ['hunter2'] }, '/tokens/0'],
      ['a private key', { pem: '-----BEGIN EC PRIVATE KEY-----\nabc' }, '/pem'],
      ['an address with a password', { host: ['http://me:hunter2@h'] }, '/host/0'],
      ['an API key', { keys: [{ key: 'hunter2' }] }, '/keys/0/key'],
    ] as const) {
      it(`*** for ${name}`, () => equal(value(data, pointer), '***'));
    }
    it('no secret inside an object', () =>
      equal(value({ a: { name: 'x', password: 'hunter2' } }, '/a'), '{"name":"x","password":"***"}'));
    it('the content of a component whose name resembles a secret', () =>
      equal(
        value(
          { extra_config: { 'auth/client-credentials': { scopes: 'a' } } },
          '/extra_config/auth~1client-credentials/scopes',
        ),
        '"a"',
      ));
  });
});
