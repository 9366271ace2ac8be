import { equal, throws } from 'node:assert/strict';
import { isJsonObject } from '../../../plugins/encoding/lib/json-bytes.ts';

const proves = (text: string | Uint8Array) => {
  const bytes = Buffer.from(text as string);
  return isJsonObject(bytes, 0, bytes.length);
};

/** The result of `JSON.parse` for the same bytes. */
function isParsedAsObject(bytes: Buffer): boolean {
  const text = bytes.toString();
  if (!text.startsWith('{') || !text.endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Numbers from 0 to below 1, the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const scalars = [
  '0',
  '-0',
  '1',
  '-12.5e+3',
  '0.1E-9',
  '1e9',
  'true',
  'false',
  'null',
  '""',
  '"a"',
  '"\\u00e9\\n\\\\\\""',
  '"é😀"',
];
const blanks = ['', '', '', ' ', '\n  ', '\t\r'];

function document(next: () => number, depth: number): string {
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)]!;
  const gap = () => pick(blanks);
  const value = (left: number): string => {
    const kind = left === 0 ? 0 : next();
    const size = Math.floor(next() * 4);
    if (kind < 0.4) return gap() + pick(scalars) + gap();
    if (kind < 0.7)
      return `${gap()}[${Array.from({ length: size }, () => value(left - 1)).join(',') || gap()}]${gap()}`;
    return gap() + object(left, size) + gap();
  };
  const object = (left: number, size: number) =>
    `{${Array.from({ length: size }, () => `${gap()}${pick(scalars.slice(9))}${gap()}:${value(left - 1)}`).join(',') || gap()}}`;
  return object(depth, 1 + Math.floor(next() * 4));
}

describe('the byte-level JSON validator', () => {
  it('agrees with JSON.parse on 3,000 generated documents', () => {
    const next = sequence(1);
    for (let round = 0; round < 3000; round++) {
      const text = document(next, 5);
      equal(proves(text), true, text);
    }
  });

  it('agrees with JSON.parse on 60,000 mutated documents', () => {
    const next = sequence(2);
    const alphabet = Buffer.from('{}[]",:\\/ \t\n\r\0\x1f\x7f0123456789+-.eEutrfalsn\xc3\xa9\xff', 'latin1');
    let accepted = 0;
    for (let round = 0; round < 60_000; round++) {
      const source = Buffer.from(document(next, 3));
      const at = Math.floor(next() * source.length);
      const byte = alphabet.subarray(Math.floor(next() * alphabet.length)).subarray(0, 1);
      const kind = next();
      const tail = kind < 0.33 ? at : at + 1;
      const bytes = Buffer.concat([source.subarray(0, at), kind < 0.66 ? byte : Buffer.of(), source.subarray(tail)]);
      const expected = isParsedAsObject(bytes);
      if (expected) accepted++;
      equal(isJsonObject(bytes, 0, bytes.length), expected, JSON.stringify(bytes.toString('latin1')));
    }
    equal(accepted > 1000 && accepted < 59_000, true);
  });

  it('agrees with JSON.parse on every prefix of a document', () => {
    const whole = Buffer.from('{"a\\u00e9\\"":[1.5e-3,true,null,{"b":"c\\\\"}],"d":false}');
    for (let length = 0; length <= whole.length; length++) {
      equal(isJsonObject(whole, 0, length), length === whole.length, `${length} bytes`);
      const closed = Buffer.concat([whole.subarray(0, length), Buffer.from('}')]);
      equal(isJsonObject(closed, 0, closed.length), isParsedAsObject(closed), closed.toString());
    }
  });

  for (const text of [
    '',
    '{',
    '}',
    '[]',
    '[1]',
    '1',
    '"a"',
    'null',
    '{}}',
    '{}{}',
    '{} {}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":-}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":tru}',
    '{"a":nul}',
    '{"a":truee}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12"}',
    '{"a":"}',
    '{"a":"\\"}',
    '{"a":[}',
    '{"a":[1,]}',
    '{"a":[1}',
    '{"a":1]',
    '{"a" 1}',
    '{"a":1 "b":2}',
    "{'a':1}",
    '{"a":1}//x}',
    '{"a":\u00a01}',
    '{"a":1\f}',
    '{"a":"\0"}',
    '{"a":0x1}',
    '{"a":[1 2]}',
    '{"a":{}]}',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      equal(proves(text), false);
    });
  }

  it('reads only the given range of bytes', () => {
    const bytes = Buffer.from('xx{"a":1}yy');
    equal(isJsonObject(bytes, 2, bytes.length - 2), true);
    equal(isJsonObject(bytes, 2, bytes.length - 3), false);
  });

  it('accepts duplicate keys and keys such as __proto__', () => {
    equal(proves('{"a":1,"a":2,"__proto__":{"constructor":1}}'), true);
  });

  it('accepts 10,000 levels of nesting and rejects more', () => {
    const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
    equal(proves(nested(10_000)), true);
    throws(() => proves(nested(10_001)), /nested deeper than 10000 levels/);
    equal(proves(`{"a":1}${'}'.repeat(20_000)}`), false);
  });
});
