import { deepEqual, equal, ok } from 'node:assert/strict';
import { mayLoseDigits, parseExact, printJson } from '#contract';

describe('parsing JSON with exact numbers', () => {
  for (const text of [
    '9007199254740993',
    '-12345678901234567890',
    '0.12345678901234567',
    '1e400',
    '5e-324',
    '123456789.123456789',
  ]) {
    it(`keeps the digits of ${text}`, () => {
      equal(printJson(parseExact(`{"n":[${text}]}`)), `{"n":[${text}]}`);
    });
  }

  for (const [text, printed] of [
    ['1.50', '1.5'],
    ['1e3', '1000'],
    ['0.0000000000000000', '0'],
    ['9007199254740991', '9007199254740991'],
  ] as const) {
    it(`returns ${text} as an ordinary number`, () => equal(printJson(parseExact(text)), printed));
  }

  it('ignores digits inside strings', () => {
    deepEqual(parseExact('{"id":"12345678901234567890","u":"1e9"}'), { id: '12345678901234567890', u: '1e9' });
  });

  it('takes time in proportion to the length of a number', () => {
    const zeros = '0'.repeat(1_000_000);
    equal(printJson(parseExact(`[1${zeros}1]`)), `[1${zeros}1]`);
    ok(Array.isArray(parseExact(`[0.${zeros}1]`)));
  });

  it('keeps a key with the name of an Object.prototype member as data', () => {
    const data = parseExact('{"__proto__":{"a":1},"n":12345678901234567890}') as object;
    ok(Object.hasOwn(data, '__proto__'));
    equal('a' in data, false);
  });
});

describe('a number in JSON', () => {
  const kept = (text: string) => JSON.isRawJSON((parseExact(`[${text}]`) as unknown[])[0]);

  for (const text of [
    '0.1234567890123456',
    '1234567890123456.5',
    '1e-400',
    '-1E400',
    '1.234567890123456789e5',
    '2.2e-309',
  ]) {
    it(`keeps its spelling: ${text}`, () => ok(kept(text)));
  }
  for (const text of [
    '0.123456789012345',
    '1234567890123450000000',
    '0.000000000000000000001',
    '123456789012345e100',
    '-9007199254740991',
    '1e300',
    '0e999',
    '-0.00000000000000000',
    '2.3e-308',
    '100000000000000000000e5',
  ]) {
    it(`becomes a JavaScript number: ${text}`, () => equal(kept(text), false));
  }
});

describe('the search for numbers that may lose digits', () => {
  for (const text of [
    '[123456789012345,6]',
    '[1.2.3]',
    '{"e":1e99}',
    '["1e9999x",1]',
    '"time 12:00"',
    '[1,2,3,4,5,6,7,8,9,10,11]',
    '["e123"]',
  ]) {
    it(`finds none in ${text}`, () => equal(mayLoseDigits(text), false));
  }
  for (const text of [
    '1234567890123456',
    '[0.123456789012345678]',
    ' 1e400',
    '[-2E-400]',
    '{"a":1e999}',
    '[1,1e100]',
  ]) {
    it(`finds one in ${text}`, () => ok(mayLoseDigits(text)));
  }

  it('finds one at any position', () => {
    for (let before = 0; before < 40; before++) {
      for (const number of ['1234567890123456789', '1.234567890123456789', '1e999', '-2.5E-400']) {
        const text = `{"${'k'.repeat(before)}":${number}}`;
        equal(printJson(parseExact(text)), text);
      }
    }
  });
});
