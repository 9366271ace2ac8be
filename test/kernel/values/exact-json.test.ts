import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { parseHolding, printJson } from '#contract';

const plain = (source: string): number => Number(source);

/** The result of a parser, or the message of its error. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

describe('the exact JSON parser', () => {
  for (const text of [
    '1',
    ' [ 1 , 2.5 , -3e+2 , 0 , -0 , 1E-2 ] ',
    '{"a":{"b":[{},[],"",null,true,false]},"c":"d"}',
    '{"a":1,"a":2,"b":3}',
    '{"__proto__":{"x":1},"constructor":2,"":3}',
    '"\\u0041\\n\\"\\\\\\ud83d\\ude00"',
    '"ä 漢 😀"',
    '[12345678901234567890,0.1]',
    '\t\r\n[\n]\n',
  ]) {
    it(`agrees with the standard parser: ${text}`, () => {
      const own = parseHolding(text, plain);
      deepEqual(own, JSON.parse(text));
      equal(printJson(own), JSON.stringify(JSON.parse(text)));
    });
  }

  for (const text of [
    ...[
      '',
      ' ',
      '[',
      ']',
      '{',
      '}',
      '[1',
      '[1,',
      '[1,]',
      '[,1]',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,}',
      '{a:1}',
      '[1 2]',
    ],
    ...[
      '01',
      '-',
      '-a',
      '1.',
      '.5',
      '1e',
      '1e+',
      '+1',
      '00',
      '-01',
      '0x1',
      'NaN',
      'Infinity',
      '1_0',
      '1 2',
      '[]]',
      '{}}',
    ],
    ...[
      '"a',
      '"\\x"',
      '"\\u12"',
      '"a\nb"',
      "'a'",
      'tru',
      'truex',
      'nul',
      'undefined',
      '[1}',
      '{"a":1]',
      '{"a" 1}',
      '\u00a0 1',
    ],
    ...['{"a":1 "b":2}', '[[1]', '{1:2}', '{"a":1,,"b":2}', '[1]x', 'null null', '"a" "b"', '\ufeff1'],
  ]) {
    it(`rejects texts that JSON.parse rejects: ${JSON.stringify(text)}`, () => {
      throws(() => parseHolding(text, plain), SyntaxError);
      equal(
        outcome(() => parseHolding(text, plain)),
        outcome(() => JSON.parse(text)),
      );
    });
  }

  it('agrees with the standard parser after any change of one character', () => {
    const text = '{"a":[1,-2.5e+3,"x\\n\\u00e4",{}],"__proto__":{"b":null},"c":[true,false,[]]}';
    for (let at = 0; at <= text.length; at++) {
      for (const put of ['', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 'n', ' ', '\n', '\u0000']) {
        for (const changed of [
          text.slice(0, at) + put + text.slice(at),
          text.slice(0, at) + put + text.slice(at + 1),
        ]) {
          deepEqual(
            outcome(() => parseHolding(changed, plain)),
            outcome(() => JSON.parse(changed)),
            changed,
          );
        }
      }
    }
  });

  it('parses any depth of nesting', () => {
    const depth = 500_000;
    let data = parseHolding('['.repeat(depth) + ']'.repeat(depth), plain);
    let seen = 0;
    for (; Array.isArray(data) && data.length > 0; data = data[0]!) seen++;
    equal(seen, depth - 1);
  });

  it('passes every number that is not a short integer to its callback', () => {
    const asked: string[] = [];
    const hold = (source: string): number => {
      asked.push(source);
      return 0;
    };
    parseHolding('[1,123456789012345,1234567890123456,-1,1.0,1e2,{"a":-0}]', hold);
    deepEqual(asked, ['1234567890123456', '-1', '1.0', '1e2', '-0']);
    ok(asked.every((source) => Number.isFinite(Number(source))));
  });
});
