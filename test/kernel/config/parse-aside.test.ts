import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { parseAside } from '../../../kernel/config/syntax/large/parse-aside.ts';
import { parseInSlices } from '../../../kernel/config/syntax/large/parse-in-slices.ts';
import { type Document, parseDocument } from '../../../kernel/config/syntax/load.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { turnsDuring } from '../../support/turns.ts';

const endpoint = (at: number, more: object = {}) => ({
  endpoint: `/path-${at}`,
  backend: [{ host: ['http://a.test'], url_pattern: `/{x}"]\\/${at}`, mapping: { a: '[{' } }],
  ...more,
});
const many = Array.from({ length: 400 }, (_, at) => endpoint(at));
const config = (endpoints: readonly unknown[], more: object = {}) => ({
  version: 3,
  name: 'a "endpoints": [',
  ...more,
  endpoints,
  timeout: '3s',
});
const json = (endpoints: readonly unknown[], more: object = {}): string =>
  JSON.stringify(config(endpoints, more), null, 1);

/** Result of a parser for a text: the document, or every error with its place. */
async function outcome(parse: () => Document | Promise<Document>): Promise<unknown> {
  try {
    const { data, warnings, text } = await parse();
    return { data, warnings: warnings.map(String), text };
  } catch (error) {
    ok(error instanceof ConfigErrors, String(error));
    return error.errors.map(({ code, pointer, message, ...rest }) => ({ ...rest, code, pointer, message }));
  }
}

async function isTheSame(text: string, file: string): Promise<void> {
  deepEqual(await outcome(() => parseAside(text, file)), await outcome(() => parseDocument(text, file)));
}

describe('a large configuration that is parsed while requests are served', () => {
  const yaml = stringify(config(many));
  const toml = (more = ''): string =>
    `version = 3\n${more}\n${many.map(({ endpoint: path }) => `[[endpoints]]\nendpoint = "${path}"\nexact = 0.5\n`).join('\n')}`;

  const cases: readonly (readonly [string, string, string])[] = [
    ['JSON', 'gateway.json', json(many)],
    ['JSON in one line', 'gateway.json', JSON.stringify(config(many))],
    ['JSON after a byte order mark', 'gateway.json', `\ufeff${json(many)}`],
    ['an unknown suffix', 'gateway.conf', json(many)],
    ['an unsupported format', 'gateway.properties', json(many)],
    [
      'numbers that JavaScript cannot hold',
      'gateway.json',
      json(many).replace('"version": 3', '"version": 3.00000000000000000001'),
    ],
    [
      'keys named like members of prototypes',
      'gateway.json',
      json([...many, JSON.parse('{"__proto__": {"constructor": 1}}')], { constructor: {} }),
    ],
    [
      'a duplicate key in an endpoint',
      'gateway.json',
      json(many).replace('"endpoint": "/path-7"', '"endpoint": "/a", $&'),
    ],
    ['a duplicate key at the root', 'gateway.json', json(many).replace('"timeout"', '"name": 1, "timeout"')],
    ['two lists of endpoints', 'gateway.json', json(many).replace('"timeout"', '"endpoints": [], "timeout"')],
    [
      'a list of endpoints with an escape in its name',
      'gateway.json',
      json(many).replace('"timeout"', '"\\u0065ndpoints": [1], "timeout"'),
    ],
    ['a comment', 'gateway.json', json(many).replace('"timeout"', '// what for\n"timeout"')],
    ['no endpoints', 'gateway.json', json([], { filler: 'x'.repeat(40_000) })],
    ['no list of endpoints', 'gateway.json', json(many).replace('"endpoints"', '"others"')],
    ['a list that is an object', 'gateway.json', JSON.stringify({ endpoints: { a: many } })],
    [
      'a missing comma between two endpoints',
      'gateway.json',
      json(many).replace('},\n  {\n   "endpoint": "/path-9"', '} {\n   "endpoint": "/path-9"'),
    ],
    [
      'two commas between two endpoints',
      'gateway.json',
      json(many).replace(',\n  {\n   "endpoint": "/path-9"', ',,\n  {\n   "endpoint": "/path-9"'),
    ],
    ['a comma after the last endpoint', 'gateway.json', json(many).replace(/\}\n {1}\],/, '},],')],
    ['a comma before the first endpoint', 'gateway.json', json(many).replace('"endpoints": [', '"endpoints": [,')],
    ['a brace in place of a bracket', 'gateway.json', json(many).replace(/\}\n {1}\],/, '}},')],
    [
      'a control character in an empty list',
      'gateway.json',
      json([], { filler: 'x'.repeat(40_000) }).replace('[]', '[\u0001]'),
    ],
    ['a truncated text', 'gateway.json', json(many).slice(0, 30_000)],
    ['text after the end', 'gateway.json', `${json(many)} x`],
    ['merge conflict markers', 'gateway.json', json(many).replace('"timeout"', '\n<<<<<<< a\n"timeout"')],
    ['a list in place of the document', 'gateway.json', JSON.stringify(many)],
    ['an endpoint nested too deeply', 'gateway.json', json([...many, JSON.parse('['.repeat(300) + ']'.repeat(300))])],
    [
      'a text that exhausts every parser',
      'gateway.json',
      json(many).replace('"timeout"', `"a": ${'['.repeat(200_000)}, "timeout"`),
    ],
    ['YAML', 'gateway.yaml', yaml],
    ['YAML with numbers that JavaScript cannot hold', 'gateway.yml', `more: 123456789012345678901234567890\n${yaml}`],
    ['YAML with merge keys', 'gateway.yaml', `${yaml}a: &a {b: 1}\nc: {<<: *a, d: 2}\n`],
    ['YAML with errors', 'gateway.yaml', `${yaml}a: [\nb: }\n`],
    ['YAML with a duplicate key', 'gateway.yaml', `${yaml}version: 2\n`],
    ['YAML nested too deeply', 'gateway.yaml', `${yaml}a: ${'['.repeat(300)}${']'.repeat(300)}\n`],
    ['YAML that is a list', 'gateway.yaml', stringify(many)],
    ['TOML', 'gateway.toml', toml()],
    ['TOML with an error', 'gateway.toml', toml('a = = 1')],
    ['a short text', 'gateway.json', json([endpoint(1)])],
    ['a short text with an error', 'gateway.yaml', 'a: ['],
    ['a long text of white space', 'gateway.json', ' '.repeat(40_000)],
  ];
  for (const [what, file, text] of cases) {
    it(`has the same data as when it is parsed in one go: ${what}`, () => isTheSame(text, file));
  }

  it('has the same errors as when it is parsed in one go, for every sample truncated at any position', async () => {
    const folder = join(import.meta.dirname, '../../../samples');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
    ok(files.length > 20);
    for (const name of files) {
      const text = readFileSync(join(folder, name), 'utf8');
      for (const at of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const from = Math.floor((text.length * at) / 8);
        const cut = text.slice(0, from) + text.slice(from + at);
        const data = await parseInSlices(cut);
        if (data) deepEqual(data, parseDocument(cut, 'gateway.json').data);
      }
    }
  });

  it('blocks the event loop in none of the formats', async () => {
    const large = Array.from({ length: 5000 }, (_, at) => endpoint(at));
    for (const [file, text] of [
      ['gateway.json', json(large)],
      ['gateway.yaml', stringify(config(many))],
      ['gateway.json', `// why\n${json(large)}`],
    ] as const) {
      const turns = await turnsDuring(() => parseAside(text, file));
      ok(turns > 5, `${file}: ${turns}`);
    }
  });

  it('is rejected if it needs more memory than available, and the process continues', async () => {
    const module = new URL('../../../kernel/config/syntax/large/parse-aside.ts', import.meta.url);
    const program = `
      import { parseAside } from ${JSON.stringify(module)};
      const text = '- endpoint: /a\\n'.repeat(200_000);
      const { errors } = await parseAside(text, 'g.yaml').catch((error) => error);
      console.log(errors[0].code, errors[0].message);
    `;
    const flags = ['--max-old-space-size=64', '--input-type=module', '--eval'];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, program]);
    equal(stdout, 'CONFIG_SYNTAX g.yaml: not enough memory to parse it\n');
  });

  it('keeps the order of its keys', async () => {
    const data = await parseInSlices(json(many));
    deepEqual(Object.keys(data!), ['version', 'name', 'endpoints', 'timeout']);
    equal(Object.getPrototypeOf(data), Object.prototype);
  });
});
