import { deepEqual, equal } from 'node:assert/strict';
import type { BackendConfig, DataObject } from '#contract';
import { compileShape } from '../../../kernel/pipeline/backend/shape.ts';

const shaped = (backend: Partial<BackendConfig>, data: DataObject): unknown =>
  compileShape(backend as BackendConfig, undefined)!(data);

describe('shaping the data of a backend', () => {
  it('is skipped if nothing is configured', () => {
    for (const backend of [{}, { target: '', group: '', allow: [], deny: [], mapping: {} }]) {
      equal(compileShape(backend as BackendConfig, undefined), null);
    }
  });

  it('omits objects that "allow" leaves empty', () => {
    deepEqual(shaped({ allow: ['a.b', 'd'] }, { a: { c: 1 }, d: 2 }), { d: 2 });
    deepEqual(shaped({ allow: ['a.b'] }, { a: { c: 1 } }), {});
    deepEqual(shaped({ allow: ['a.b'] }, { a: 1 }), {});
  });

  const mappings: [what: string, mapping: Record<string, string>, data: DataObject, made: DataObject][] = [
    ['the last of several keys of one new name', { b: 'x', a: 'x' }, { a: 1, b: 2 }, { x: 1 }],
    ['the right key if the old name belongs to another renamed key', { a: 'b', b: 'c' }, { b: 1 }, { c: 1 }],
    ['an existing key with the new name of a missing key', { a: 'b' }, { b: 1, d: 2 }, { b: 1, d: 2 }],
    ['the renamed key instead of one of that name', { a: 'b' }, { b: 1, a: 2 }, { b: 2 }],
    [
      'all other keys unchanged, regardless of their names',
      { a: 'b' },
      { undefined: 1, c: 2, a: 3 },
      { undefined: 1, c: 2, b: 3 },
    ],
    ['keys that change their names in a row', { a: 'b', b: 'c' }, { a: 1, b: 2 }, { c: 1 }],
  ];
  for (const [what, mapping, data, made] of mappings) {
    it(`with mapping returns ${what}`, () => deepEqual(shaped({ mapping }, data), made));
  }
});
