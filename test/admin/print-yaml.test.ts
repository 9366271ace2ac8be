import { deepEqual, equal } from 'node:assert/strict';
import { type Data, parseExact } from '#contract';
import { printYaml } from '../../admin/print-yaml.ts';
import { ConfigText, readSnapshot } from '../../kernel/index.ts';

describe('data printed as YAML', () => {
  const readBack = async (data: Data) => (await readSnapshot(new ConfigText(printYaml(data), 'yaml'))).data;

  it('has one entry per line', () => {
    equal(
      printYaml({ a: { b: [1, { c: 'x', d: [] }] }, e: {} }),
      'a:\n  b:\n    - 1\n    - c: x\n      d: []\ne: {}\n',
    );
  });

  it('quotes keys that would have another meaning without quotes', () => {
    equal(printYaml({ yes: 1, '1': 2, 'a: b': 3, '': 4 }), '"1": 2\n"yes": 1\n"a: b": 3\n"": 4\n');
  });

  it('is one line for scalars', () => {
    equal(printYaml('x'), 'x\n');
    equal(printYaml([]), '[]\n');
  });

  it('has the same meaning when it is parsed again', async () => {
    const data = {
      text: 'no\n"quotes" # and\ttabs: {} \u2028 \u00e9',
      list: [[1, [2, []]], [{ deep: [{ deeper: null }] }], true, -0.5, 1e21],
      'a/b~c': { '@comment': '', $schema: 'x', null: null, 'key with spaces': 'v', '- dash': 'd', '?': 'q' },
    };
    deepEqual(await readBack(data), data);
  });

  it('keeps every digit of numbers', async () => {
    const data = parseExact('{"big": 12345678901234567890, "long": 0.12345678901234567890}') as { [key: string]: Data };
    equal(printYaml(data), 'big: 12345678901234567890\nlong: 0.12345678901234567890\n');
  });
});
