import { deepEqual, equal, ok } from 'node:assert/strict';
import { mergeShallow, type ShapeRules } from '#contract';
import { compileShape } from '../../../kernel/pipeline/backend/shape.ts';
import { passJson, readJsonObject } from '../../../plugins/encoding/lib/json-body.ts';
import { mergeJson } from '../../../plugins/encoding/lib/json-merge.ts';
import { shapeJson } from '../../../plugins/encoding/lib/json-shape.ts';

/** Reproducible random integers from 0 up to but not including `below`. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const names = ['a', 'b', 'c', 'ab', 'ä', '__proto__', '1', '', 'constructor'];
const blanks = ['', ' ', '\n\t'];

/** The text of an object with occasional duplicate keys. */
function objectText(roll: (below: number) => number, depth: number): string {
  const blank = () => blanks[roll(blanks.length)]!;
  const value = (): string => {
    switch (roll(depth > 2 ? 5 : 8)) {
      case 0:
        return String(roll(1000) / 8);
      case 1:
        return ['true', 'false', 'null', '-0.5e3', '12345678901234567890'][roll(5)]!;
      case 2:
        return JSON.stringify(`x"\\\n${names[roll(names.length)]}`);
      case 3:
        return '[]';
      case 4:
        return '{}';
      case 5:
        return `[${blank()}${value()},${value()}]`;
      default:
        return objectText(roll, depth + 1);
    }
  };
  const member = () => `${blank()}"${names[roll(names.length)]}"${blank()}:${blank()}${value()}${blank()}`;
  return `{${Array.from({ length: roll(7) }, member).join(',')}${blank()}}`;
}

function path(roll: (below: number) => number): string {
  return Array.from({ length: 1 + roll(3) }, () => names[roll(5)]!).join('.');
}

function rulesOf(roll: (below: number) => number): ShapeRules {
  const paths = Array.from({ length: 1 + roll(4) }, () => path(roll));
  return {
    ...[{ allow: paths }, { deny: paths }, {}][roll(3)],
    ...(roll(2) === 0 && { mapping: { [names[roll(5)]!]: names[roll(5)]!, ab: 'new' } }),
    ...(roll(4) === 0 && { group: 'group "1"' }),
  } as ShapeRules;
}

const decode = (bytes: Uint8Array | string) => readJsonObject(Buffer.from(bytes), false)!;
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('JSON manipulation on undecoded bytes', () => {
  it('gives the same result as on decoded data, for any rules', () => {
    const roll = dice(1);
    let done = 0;
    for (let turn = 0; turn < 4000; turn++) {
      const rules = rulesOf(roll);
      const text = objectText(roll, 0);
      const passed = shapeJson(rules)?.(Buffer.from(text), false);
      if (!passed) continue;
      done++;
      const shaped = (compileShape(rules as never, undefined) ?? ((data) => data))(decode(text));
      const told = JSON.stringify([rules, text]);
      deepEqual(decode(passed.body), shaped, told);
      equal(passed.empty, Object.keys(shaped).length === 0, told);
    }
    ok(done > 1000, `${done} done on bytes`);
  });

  it('merges responses in the same way as decoded data', () => {
    const roll = dice(2);
    for (let turn = 0; turn < 3000; turn++) {
      const texts = Array.from({ length: 1 + roll(4) }, () => objectText(roll, 1));
      const passed = mergeJson(texts.map((text) => passJson(Buffer.from(text), false)!.body))!;
      const merged = mergeShallow(texts.map(decode));
      deepEqual([decode(passed.body), passed.empty], [merged, Object.keys(merged).length === 0], JSON.stringify(texts));
    }
  });

  it('validates the JSON and rejects invalid documents', () => {
    const roll = dice(3);
    const shapes = Array.from({ length: 40 }, () => shapeJson(rulesOf(roll))).filter((shape) => shape !== null);
    const marks = [...'{}[]",:\\ 0e.-\u0001ä'];
    let broken = 0;
    for (let turn = 0; turn < 6000; turn++) {
      const text = objectText(roll, 1);
      const at = roll(text.length + 1);
      const changed = text.slice(0, at) + marks[roll(marks.length)] + text.slice(at + roll(3));
      if (isJson(changed)) continue;
      broken++;
      for (const shape of shapes) equal(shape(Buffer.from(changed), false) ?? null, null, changed);
    }
    ok(broken > 2000);
  });

  for (const [what, rules, text] of [
    ['an escape in a key', { deny: ['a'] }, '{"\\u0061":1}'],
    ['a duplicate key that a rule addresses', { allow: ['a.b'] }, '{"a":{"b":1},"a":{"c":1}}'],
    ['a key that is also the target of a renaming', { mapping: { a: 'b' } }, '{"a":1,"b":2}'],
    [
      'bytes that are not valid UTF-8',
      { deny: ['a'] },
      Buffer.from([...Buffer.from('{"b":"'), 0xff, ...Buffer.from('"}')]),
    ],
    ['a value of another type', { deny: ['a'] }, '[1]'],
  ] as const) {
    it(`falls back to decoding for ${what}`, () => {
      equal(shapeJson(rules as ShapeRules)!(Buffer.from(text as string), false), null);
    });
  }

  it('falls back to decoding for a collection', () => {
    equal(shapeJson({ deny: ['a'] } as never)!(Buffer.from('{}'), true), null);
  });

  for (const [what, rules] of [
    ['with a target', { target: 'a' }],
    ['with a path nested in another one', { allow: ['a', 'a.b'] }],
    ['with names that are swapped', { mapping: { a: 'b', b: 'a' } }],
    ['with a name that JSON must escape', { deny: ['a"'] }],
  ] as const) {
    it(`falls back to decoding ${what}`, () => {
      equal(shapeJson(rules as ShapeRules), null);
    });
  }

  it('falls back to decoding in a merge if a key contains an escape sequence or the number of keys is very large', () => {
    const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text));
    equal(mergeJson(parts('{"a":1}', '{"\\u0061":2}')), null);
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`k${at}`, at])));
    equal(mergeJson(parts(many)), null);
  });
});
