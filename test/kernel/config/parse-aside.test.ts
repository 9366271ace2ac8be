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

/** What a way to parse makes of a text: the document, or every mistake with its place. */
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

describe('a text that is parsed while requests are served', () => {
  const yaml = stringify(config(many));
  const toml = (more = ''): string =>
    `version = 3\n${more}\n${many.map(({ endpoint: path }) => `[[endpoints]]\nendpoint = "${path}"\nexact = 0.5\n`).join('\n')}`;

  const cases: readonly (readonly [string, string, string])[] = [
    ['JSON', 'gateway.json', json(many)],
    ['JSON in one line', 'gateway.json', JSON.stringify(config(many))],
    ['JSON after a byte order mark', 'gateway.json', `\ufeff${json(many)}`],
    ['an extension that tells nothing', 'gateway.conf', json(many)],
    ['a format that is not read', 'gateway.properties', json(many)],
    [
      'numbers that JavaScript cannot hold',
      'gateway.json',
      json(many).replace('"version": 3', '"version": 3.00000000000000000001'),
    ],
    [
      'keys of prototypes',
      'gateway.json',
      json([...many, JSON.parse('{"__proto__": {"constructor": 1}}')], { constructor: {} }),
    ],
    [
      'a key that stands twice in an endpoint',
      'gateway.json',
      json(many).replace('"endpoint": "/path-7"', '"endpoint": "/a", $&'),
    ],
    ['a key that stands twice at the root', 'gateway.json', json(many).replace('"timeout"', '"name": 1, "timeout"')],
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
      'no comma between two',
      'gateway.json',
      json(many).replace('},\n  {\n   "endpoint": "/path-9"', '} {\n   "endpoint": "/path-9"'),
    ],
    [
      'two commas',
      'gateway.json',
      json(many).replace(',\n  {\n   "endpoint": "/path-9"', ',,\n  {\n   "endpoint": "/path-9"'),
    ],
    ['a comma behind the last', 'gateway.json', json(many).replace(/\}\n {1}\],/, '},],')],
    ['a comma before the first', 'gateway.json', json(many).replace('"endpoints": [', '"endpoints": [,')],
    ['a brace in the place of a bracket', 'gateway.json', json(many).replace(/\}\n {1}\],/, '}},')],
    [
      'a control character in an empty list',
      'gateway.json',
      json([], { filler: 'x'.repeat(40_000) }).replace('[]', '[\u0001]'),
    ],
    ['an end in the middle', 'gateway.json', json(many).slice(0, 30_000)],
    ['text behind the end', 'gateway.json', `${json(many)} x`],
    ['marks of a merge', 'gateway.json', json(many).replace('"timeout"', '\n  it('is rejected if it needs more memory than available, and the process continues', async () => {
    const from = (path: string) => JSON.stringify(new URL(`../../../kernel/config/syntax/${path}.ts`, import.meta.url));
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

  it('keeps the order of the keys', async () => {
    const data = await parseInSlices(json(many));
    deepEqual(Object.keys(data!), ['version', 'name', 'endpoints', 'timeout']);
    equal(Object.getPrototypeOf(data), Object.prototype);
  });
});
