import { deepEqual, equal } from 'node:assert/strict';
import { findNear, nearest } from '#contract';

describe('the name nearest to a mistyped word', () => {
  for (const [word, name, issue] of [
    ['timout', 'timeout', 'a missing letter'],
    ['timeeout', 'timeout', 'an extra letter'],
    ['timeoit', 'timeout', 'a wrong letter'],
    ['tiemout', 'timeout', 'two letters swapped'],
    ['Timeout', 'timeout', 'the letter case'],
    ['input-headers', 'input_headers', 'a dash for an underscore'],
    ['inputheaders', 'input_headers', 'a missing underscore'],
    ['prot', 'port', 'two letters swapped in a short word'],
  ] as const) {
    it(`is found despite ${issue}: ${word}`, () => {
      deepEqual(findNear(word, ['endpoints', 'timeout', 'input_headers', 'port', 'cache_ttl']), { name, isSure: true });
    });
  }

  it('is not found if more than a third of the letters differ', () => {
    equal(nearest('abcdef', ['abcdxy']), 'abcdxy');
    equal(nearest('abcdef', ['abcxyz']), undefined);
    equal(nearest('ab', ['ax']), 'ax');
    equal(nearest('ab', ['xy']), undefined);
    equal(nearest('abc', []), undefined);
  });

  it('is the most similar one, in any position', () => {
    equal(nearest('headers', ['headres2', 'header', 'hdrs']), 'header');
    equal(nearest('headers', ['header', 'headres2']), 'header');
  });

  it('is uncertain if another is equally similar', () => {
    deepEqual(findNear('hast', ['host', 'hash']), { name: 'host', isSure: false });
  });

  it('is the one with the same first letter if two names are equally similar', () => {
    deepEqual(findNear('host', ['cost', 'hose']), { name: 'hose', isSure: false });
    deepEqual(findNear('host', ['hose', 'cost']), { name: 'hose', isSure: false });
  });

  it('is certain again if a more similar one follows', () => {
    deepEqual(findNear('timeout', ['timexxt', 'timeyyt', 'timeouts']), { name: 'timeouts', isSure: true });
  });

  it('is uncertain if three letters differ', () => {
    deepEqual(findNear('abcdefghi', ['abcdefghi123']), { name: 'abcdefghi123', isSure: false });
    deepEqual(findNear('abcdefghi', ['abcdefghi12']), { name: 'abcdefghi12', isSure: true });
  });

  it('is not searched for with very long words', () => {
    const long = 'a'.repeat(100);
    equal(nearest(long, [long]), long);
    equal(nearest(`${long}a`, [long]), undefined);
    equal(nearest(long, [`${long}a`]), undefined);
  });
});
