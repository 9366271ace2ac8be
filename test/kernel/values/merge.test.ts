import { deepEqual, equal } from 'node:assert/strict';
import { type DataObject, mergeShallow } from '#contract';

const parse = (json: string) => JSON.parse(json) as DataObject;

describe('the shallow merge', () => {
  it('uses the later value of an equal key', () => {
    deepEqual(mergeShallow([parse('{"id":1,"x":{"p":1}}'), parse('{"id":2,"x":{"q":2}}')]), { id: 2, x: { q: 2 } });
  });

  it('keeps a key at its first position', () => {
    equal(JSON.stringify(mergeShallow([{ a: 1, b: 1 }, { b: 2, c: 2 }, { a: 3 }])), '{"a":3,"b":2,"c":2}');
  });

  it('merges any number of parts', () => {
    const sections = Array.from({ length: 6 }, (_, index) => ({ last: index, [`k${index}`]: index }));
    equal(JSON.stringify(mergeShallow(sections)), '{"last":5,"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5}');
  });

  it('returns an empty object for no parts', () => {
    deepEqual(mergeShallow([]), {});
  });

  it('returns a single part itself', () => {
    const section = { a: 1 };
    equal(mergeShallow([section]), section);
  });

  it('does not modify its parts', () => {
    const sections = [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }];
    for (const count of [2, 3, 4]) mergeShallow(sections.slice(0, count));
    deepEqual(sections, [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
  });

  it('treats names of Object.prototype as plain data', () => {
    const hostile = parse('{"__proto__":{"admin":true},"constructor":1}');
    for (const count of [2, 3, 4]) {
      const merged = mergeShallow([hostile, ...Array.from({ length: count - 2 }, () => ({})), hostile]);
      equal(JSON.stringify(merged), '{"__proto__":{"admin":true},"constructor":1}');
      equal((merged as { admin?: boolean }).admin, undefined);
    }
  });
});
