import { deepEqual } from 'node:assert/strict';
import { parseSegment, readSegment } from '../../../kernel/config/index.ts';

describe('a segment of an endpoint path', () => {
  it('consists of fixed text and variables', () => {
    deepEqual(parseSegment('plain'), { texts: ['plain'], names: [] });
    deepEqual(parseSegment('{a}'), { texts: ['', ''], names: ['a'] });
    deepEqual(parseSegment('v{a}.{b}.json'), { texts: ['v', '.', '.json'], names: ['a', 'b'] });
  });

  const cases: [segment: string, value: string, values: string[] | undefined][] = [
    ['plain', 'plain', []],
    ['plain', 'plains', undefined],
    ['{a}', 'x', ['x']],
    ['{a}', '', undefined],
    ['file.{a}', 'file.tar.gz', ['tar.gz']],
    ['file.{a}', 'file.', undefined],
    ['{a}.json', 'x.json', ['x']],
    ['{a}.json', 'x.json.json', ['x.json']],
    ['{a}.json', '.json', undefined],
    ['{a}.json', 'x.jso', undefined],
    ['{a}-{b}', 'x-y', ['x', 'y']],
    ['{a}-{b}', 'x-y-z', ['x', 'y-z']],
    ['{a}-{b}', 'x--z', ['x', '-z']],
    ['{a}-{b}', '-x-y', undefined],
    ['{a}-{b}', 'x-', undefined],
    ['{a}--{b}', 'x-y--z', ['x-y', 'z']],
    ['v{a}.{b}.json', 'v1.2.json', ['1', '2']],
    ['v{a}.{b}.json', 'v1.json', undefined],
    ['ab{a}bc', 'abbc', undefined],
    ['ab{a}bc', 'abc', undefined],
  ];
  for (const [segment, value, values] of cases) {
    it(`${segment} ${values ? `reads ${JSON.stringify(values)} from` : 'does not match'} ${JSON.stringify(value)}`, () =>
      deepEqual(readSegment(parseSegment(segment).texts, value), values));
  }
});
