import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { reparseDocument } from '../../../kernel/config/syntax/large/reparse.ts';
import { type Document, parseDocument } from '../../../kernel/config/syntax/load.ts';

const FILE = 'gateway.json';

/** Pseudorandom numbers, the same in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const endpoint = (at: number, more: object = {}) => ({
  endpoint: `/path-${at}`,
  backend: [{ host: ['http://a.test'], url_pattern: `/{x}"]\\/${at}`, mapping: { a: '[{' } }],
  ...more,
});
const text = (endpoints: readonly unknown[], more: object = {}): string =>
  JSON.stringify({ version: 3, name: 'a "endpoints": [', ...more, endpoints, timeout: '3s' }, null, 1);

const listOf = ({ data }: Document): readonly object[] => (data as { endpoints: object[] }).endpoints;
const parse = (source: string): Document => parseDocument(source, FILE);

describe('a configuration text of which only endpoints have changed', () => {
  const all = [0, 1, 2, 3].map((at) => endpoint(at));
  const before = parse(text(all));

  const cases: readonly (readonly [string, readonly unknown[], readonly number[]])[] = [
    ['one changed endpoint', all.with(1, endpoint(1, { timeout: '4s' })), [0, 2, 3]],
    ['a changed first endpoint', all.with(0, endpoint(9)), [1, 2, 3]],
    ['a changed last endpoint', all.with(3, endpoint(9, { exact: 1 })), [0, 1, 2]],
    ['an endpoint added at the beginning', [endpoint(9), ...all], [0, 1, 2, 3]],
    ['an endpoint added at the end', [...all, endpoint(9)], [0, 1, 2, 3]],
    ['an endpoint added in the middle', all.toSpliced(2, 0, endpoint(9)), [0, 1, 2, 3]],
    ['a removed endpoint', all.toSpliced(1, 1), [0, 2, 3]],
    ['two changed endpoints that are far apart', all.with(0, endpoint(8)).with(3, endpoint(9)), [1, 2]],
    ['endpoints in another order', all.toReversed(), [0, 1, 2, 3]],
    ['only new endpoints', [endpoint(7), endpoint(8)], []],
    ['an empty list', [], []],
    ['an unchanged list', all, [0, 1, 2, 3]],
  ];
  for (const [what, endpoints, same] of cases) {
    it(`is parsed only in its changed parts: ${what}`, async () => {
      const document = await reparseDocument(before, text(endpoints), FILE);
      deepEqual(document?.data, parse(text(endpoints)).data);
      const known = new Set(listOf(before));
      equal(listOf(document!).filter((each) => known.has(each)).length, same.length);
      for (const at of same) equal(listOf(document!).includes(listOf(before)[at]!), true);
    });
  }

  const many = Array.from({ length: 100 }, (_, at) => endpoint(at));
  const scattered: readonly (readonly [string, readonly unknown[], number])[] = [
    [
      'every third endpoint changed',
      many.map((each, at) => (at % 3 === 0 ? endpoint(at, { timeout: '4s' }) : each)),
      66,
    ],
    [
      'one endpoint changed, one removed and one added',
      many.with(90, endpoint(200)).toSpliced(60, 1).toSpliced(5, 0, endpoint(201)),
      98,
    ],
    [
      'forty endpoints added in the middle',
      many.toSpliced(50, 0, ...many.slice(0, 40).map((_, at) => endpoint(300 + at))),
      100,
    ],
    ['forty endpoints removed', many.toSpliced(30, 40), 60],
    ['the last endpoints moved to the beginning', [...many.slice(70), ...many.slice(0, 70)], 100],
  ];
  for (const [what, endpoints, same] of scattered) {
    it(`is parsed only in its changed parts, with many endpoints: ${what}`, async () => {
      const first = parse(text(many));
      let document = await reparseDocument(first, text(endpoints), FILE);
      deepEqual(document?.data, parse(text(endpoints)).data);
      const known = new Set(listOf(first));
      equal(listOf(document!).filter((each) => known.has(each)).length, same);
      // A second edit of the result shows that the positions after the first edit are correct.
      const last = endpoints.with(-1, endpoint(999));
      const before = new Set(listOf(document!));
      document = await reparseDocument(document!, text(last), FILE);
      deepEqual(document?.data, parse(text(last)).data);
      equal(listOf(document!).filter((each) => before.has(each)).length, endpoints.length - 1);
    });
  }

  it('has correct positions of all values', async () => {
    const source = text(all.with(2, endpoint(2, { timeout: 'soon' })));
    const document = await reparseDocument(before, source, FILE);
    for (const pointer of ['/endpoints/2/timeout', '/endpoints/3/backend/0/host/0', '/timeout']) {
      deepEqual(document!.locate(pointer, 'value'), parse(source).locate(pointer, 'value'));
      equal(document!.valueAt(pointer), parse(source).valueAt(pointer));
    }
  });

  for (const [what, source] of [
    ['also differs outside the endpoints', text(all, { name: 'another' })],
    ['has a comment', text(all).replace('"/path-2"', '"/path-2" // that one')],
    ['has a duplicate key', text(all).replace('"/path-2",', '"/path-2", "endpoint": "/b",')],
    ['is not valid JSON in an endpoint', text(all).replace('"/path-2",', '"/path-2"')],
    ['ends the list early', text(all).replace('"/path-2",', '"/x"}], "port": 80, "x": [{"a": "/b",')],
    ['is nested too deeply', text(all.with(1, endpoint(1, { a: JSON.parse('['.repeat(199) + ']'.repeat(199)) })))],
  ] as const) {
    it(`is parsed as a whole if it ${what}`, async () => {
      notEqual(source, text(all));
      equal(await reparseDocument(before, source, FILE), null);
    });
  }

  it('is parsed as a whole if its format changes', async () => {
    equal(await reparseDocument(before, text(all), 'gateway.yaml'), null);
  });

  it('always gives the same result as when parsed as a whole, for any edit', async () => {
    const random = generator(7);
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      ':',
      '0',
      '1',
      '-',
      '.5',
      '\\',
      ' ',
      '\n',
      '{"a":1}',
      ',{}',
      '//',
      'true',
    ];
    let document = before;
    let read = 0;
    for (let round = 0; round < 8_000; round++) {
      const at = random(document.text.length);
      const to = Math.min(document.text.length, at + random(random(4) === 0 ? 120 : 3));
      const piece = random(3) === 0 ? document.text.slice(at, at + random(90)) : pieces[random(pieces.length)]!;
      const source = document.text.slice(0, at) + piece + document.text.slice(to);
      const changed = await reparseDocument(document, source, FILE);
      if (!changed) continue;
      read++;
      deepEqual(changed.data, parse(source).data, source);
      document = source.length > 4_000 ? before : changed;
    }
    equal(read > 100, true, `only ${read} texts were read`);
  });
});
