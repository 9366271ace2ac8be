import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mendText } from '../../../../kernel/config/index.ts';

const mended = (text: string, file = 'g.json') => mendText(text, file).text;

describe('correcting a text with syntax errors', () => {
  // biome-ignore format: a row is a line
  const rows: readonly (readonly [what: string, text: string, mended: string])[] = [
    ['a trailing comma of an object', '{"a": 1,}', '{"a": 1}'],
    ['a trailing comma of a list', '{"a": [1, 2, ]}', '{"a": [1, 2 ]}'],
    ['several errors on one line', '{"a": [{"b": 1,},],}', '{"a": [{"b": 1}]}'],
    ['a second comma', '{"a": 1,, "b": 2}', '{"a": 1, "b": 2}'],
    ['a comma before the first key', '{, "a": 1}', '{ "a": 1}'],
    ['a comma that is missing at the end of a line', '{\n  "a": 1 // one\n  "b": 2\n}', '{\n  "a": 1, // one\n  "b": 2\n}'],
    ['a key without quotes', '{a: 1, "b": {$c: 2}}', '{"a": 1, "b": {"$c": 2}}'],
    ['a key in single quotes', "{'a': 1}", '{"a": 1}'],
    ['a string in single quotes', `{"a": 'one'}`, '{"a": "one"}'],
    ['a string in typographic quotes', '{"a": “one”}', '{"a": "one"}'],
    ['literals of other languages', '{"a": True, "b": [None], "c": off}', '{"a": true, "b": [null], "c": false}'],
  ];
  for (const [what, text, expected] of rows) {
    it(`corrects ${what}`, () => equal(mended(text), expected));
  }

  it('leaves ambiguous errors unchanged', () => {
    for (const text of [
      '{"a": 1 "b": 2}',
      '{"a": "one "two", "b": 2}',
      `{"a": 'it"s'}`,
      '{"a": one}',
      '{"a": [1, 2}',
      '{"a": 0x1f}',
      '{"a" 1}',
      '',
    ]) {
      equal(mended(text), text);
    }
  });
  it('works for TOML, too', () => {
    equal(
      mended('timeout = 2s\ndebug = True\n[a]\nb = yes\n', 'g.toml'),
      'timeout = "2s"\ndebug = true\n[a]\nb = true\n',
    );
  });
  it('corrects errors even if the text also contains errors that it cannot correct', () =>
    equal(mended('{"a": one,\n "b": 1,}'), '{"a": one,\n "b": 1}'));
  it('reports every correction at its place', () => {
    const { made } = mendText('{"a": [1,],\n}', 'g.json');
    deepEqual(
      made.map(({ position, reason }) => [position?.line, position?.column, reason]),
      [
        [1, 9, 'trailing comma'],
        [1, 10, 'trailing comma'],
      ],
    );
  });
  it('removes trailing commas without changing anything else', () => {
    const path = new URL('../../../../samples/quickstart/gateway.json', import.meta.url);
    const text = readFileSync(path, 'utf8');
    const broken = text.replaceAll(/(["\d\]}e])(\s*[\]}])/g, '$1,$2');
    equal(mended(broken), text);
  });
  it('inserts missing commas at line ends without changing anything else', () => {
    const path = new URL('../../../../samples/quickstart/gateway.json', import.meta.url);
    const text = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), null, 2);
    equal(mended(text.replaceAll(/,$/gm, '')), text);
  });
});

describe('correcting a text without syntax errors', () => {
  it('returns it unchanged', () => deepEqual(mendText('{"a": 1}', 'g.json'), { text: '{"a": 1}', made: [] }));
});
