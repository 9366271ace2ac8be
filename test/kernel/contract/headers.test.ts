import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { canonicalHeaderName, HeaderBag, isHeaderName, isHopByHop } from '#contract';

setFlagsFromString('--expose-gc');

function heapAfterCollection(): number {
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const bag = () => new HeaderBag(['X-A', '1', 'x-b', '2', 'x-a', '3', 'X-C', 'x-a']);

describe('a HeaderBag', () => {
  it('returns the first header with a name in any case', () => {
    deepEqual([bag().get('x-a'), bag().get('x-b'), bag().get('x-d')], ['1', '2', undefined]);
    deepEqual([bag().has('x-b'), bag().has('x-d'), bag().has('2')], [true, false, false]);
  });

  it('returns all headers with a name, in order', () => {
    deepEqual([bag().getAll('x-a'), bag().getAll('x-d')], [['1', '3'], []]);
  });

  it('replaces all headers with a name by one at the end, spelled as given', () => {
    const headers = bag();
    headers.set('X-a', '9');
    deepEqual(headers.list, ['x-b', '2', 'X-C', 'x-a', 'X-a', '9']);
  });

  it('keeps headers with the same name when it adds one', () => {
    const headers = bag();
    headers.append('X-B', '9');
    deepEqual(headers.getAll('x-b'), ['2', '9']);
  });

  for (const [what, name, value] of [
    ['a line break', 'X-A', 'a\r\nSet-Cookie: b'],
    ['NUL', 'X-A', 'a\0'],
    ['DEL', 'X-A', '\x7f'],
    ['an invalid name', 'X A', 'a'],
    ['an empty name', '', 'a'],
  ] as const) {
    it(`rejects ${what} when a header is set or added, and stays unchanged`, () => {
      const headers = bag();
      throws(() => headers.set(name, value), TypeError);
      throws(() => headers.append(name, value), TypeError);
      deepEqual(headers.list, bag().list);
    });
  }

  it('has values of one byte per character; characters beyond Latin-1 are written as UTF-8', () => {
    const headers = new HeaderBag();
    headers.set('X-A', 'a\tü');
    headers.append('X-A', 'ż');
    deepEqual(headers.getAll('x-a'), ['a\tü', '\xc5\xbc']);
  });

  it('deletes all headers with a name in any case, also adjacent ones', () => {
    const headers = new HeaderBag(['X-A', '1', 'x-a', '2', 'X-B', '3', 'x-A', '4']);
    headers.delete('X-a');
    deepEqual(headers.list, ['X-B', '3']);
  });

  it('deletes in time that grows with the number of headers', () => {
    const many = (count: number) => new HeaderBag(Array.from({ length: 2 * count }, (_, at) => (at % 2 ? 'a' : 'X-A')));
    const cpuOf = (count: number): number => {
      const headers = many(count);
      const before = process.cpuUsage();
      headers.set('x-a', '1');
      deepEqual(headers.list, ['x-a', '1']);
      return process.cpuUsage(before).user / 1000;
    };
    // With a quadratic algorithm, this would take seconds.
    ok(cpuOf(100_000) < 500);
  });

  it('filters by lower-case names, in order', () => {
    const headers = bag();
    const asked: string[] = [];
    headers.filter((name) => asked.push(name) > 0 && name !== 'x-b');
    deepEqual(asked, ['x-a', 'x-b', 'x-a', 'x-c']);
    deepEqual(headers.list, ['X-A', '1', 'x-a', '3', 'X-C', 'x-a']);
  });

  it('can be copied without affecting the original', () => {
    const headers = bag();
    headers.copy().delete('x-a');
    equal(headers.list.length, 8);
  });

  it('lists its headers as pairs, in order', () => {
    deepEqual(
      [...new HeaderBag(['X-A', '1', 'x-a', '2'])],
      [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
    );
    deepEqual([...new HeaderBag()], []);
  });
});

describe('the name of a header', () => {
  it('is not cached if it is longer than usual names', () => {
    const name = (at: number) => `x-${at}-${'a'.repeat(200_000)}`;
    const before = heapAfterCollection();
    for (let at = 0; at < 100; at++) equal(canonicalHeaderName(name(at)).length, name(at).length);
    ok(heapAfterCollection() - before < 5_000_000);
  });

  for (const [name, canonical] of [
    ['x-REQUEST-id', 'X-Request-Id'],
    ['etag', 'Etag'],
    ['x-1a-b', 'X-1a-B'],
    ['X--y', 'X--Y'],
  ] as const) {
    it(`is spelled ${canonical} for ${name}, each time`, () => {
      deepEqual([canonicalHeaderName(name), canonicalHeaderName(name)], [canonical, canonical]);
    });
  }

  it('is spelled the same regardless of the number of other names', () => {
    for (let at = 0; at < 1100; at++) canonicalHeaderName(`x-many-${at}`);
    equal(canonicalHeaderName('x-one-MORE'), 'X-One-More');
  });

  it('is an HTTP token', () => {
    ok(isHeaderName("X-a_9!#$%&'*+.^`|~"));
    for (const text of ['', 'a b', 'a:', 'ä', 'a\n']) equal(isHeaderName(text), false, text);
  });

  const own = ['te', 'trailer', 'upgrade', 'connection', 'keep-alive', 'http2-settings', 'transfer-encoding'];
  for (const name of [...own, 'proxy-authorization', 'proxy-connection']) {
    it(`is classified as hop-by-hop: ${name}`, () => ok(isHopByHop(name)));
  }
  for (const name of [
    'tf',
    'trailex',
    'user-agent',
    'set-cookie',
    'content-length',
    'accept-language',
    'if-modified-since',
  ]) {
    it(`is classified as end-to-end: ${name}`, () => equal(isHopByHop(name), false));
  }
  it('is classified as end-to-end if it only begins like a hop-by-hop name', () => {
    for (const name of own) equal(isHopByHop(`${name}x`), false, name);
    equal(isHopByHop('proxy'), false);
    for (const name of ['x-upgrad', 'connectiox', 'transfer-encodinx', 'http2-settingx'])
      equal(isHopByHop(name), false);
  });
});
