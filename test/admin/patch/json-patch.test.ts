import { deepEqual, equal, throws } from 'node:assert/strict';
import type { Data } from '#contract';
import { jsonPatch, PatchError } from '../../../admin/patch/json-patch.ts';

/** Title, document, patch and result. */
const good: readonly (readonly [string, Data, Data, Data])[] = [
  ['adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  ['adds an entry', { foo: ['a', 'c'] }, [{ op: 'add', path: '/foo/1', value: 'b' }], { foo: ['a', 'b', 'c'] }],
  ['adds an entry at the end', ['a'], [{ op: 'add', path: '/1', value: 'b' }], ['a', 'b']],
  [
    'adds an entry after the last one',
    { foo: ['a'] },
    [{ op: 'add', path: '/foo/-', value: ['b'] }],
    { foo: ['a', ['b']] },
  ],
  ['replaces an existing member by adding it', { foo: 1 }, [{ op: 'add', path: '/foo', value: 2 }], { foo: 2 }],
  ['adds null', { foo: 1 }, [{ op: 'add', path: '/foo', value: null }], { foo: null }],
  ['adds a member with an empty name', {}, [{ op: 'add', path: '/', value: 1 }], { '': 1 }],
  ['replaces the whole document by adding it', { foo: 1 }, [{ op: 'add', path: '', value: { bar: 2 } }], { bar: 2 }],
  ['removes a member', { foo: 1, bar: 2 }, [{ op: 'remove', path: '/foo' }], { bar: 2 }],
  ['removes an entry', { foo: [1, 2, 3] }, [{ op: 'remove', path: '/foo/1' }], { foo: [1, 3] }],
  ['replaces a value', { foo: [1] }, [{ op: 'replace', path: '/foo/0', value: 2 }], { foo: [2] }],
  ['replaces the whole document', { foo: 1 }, [{ op: 'replace', path: '', value: [] }], []],
  ['moves a value', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
  ['moves an entry', ['a', 'b', 'c'], [{ op: 'move', from: '/1', path: '/2' }], ['a', 'c', 'b']],
  ['moves a value to itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  ['copies a value', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
  [
    'tests a value',
    { a: { b: [1, 'x'] } },
    [{ op: 'test', path: '/a', value: { b: [1, 'x'] } }],
    { a: { b: [1, 'x'] } },
  ],
  [
    'compares objects regardless of the order of members',
    { a: 1, b: 2 },
    [{ op: 'test', path: '', value: { b: 2, a: 1 } }],
    { a: 1, b: 2 },
  ],
  [
    'reads the escapes ~1 and ~0 in a path',
    { 'a/b': 1, 'm~n': 2, '~1': 3 },
    [
      { op: 'remove', path: '/a~1b' },
      { op: 'remove', path: '/m~0n' },
      { op: 'test', path: '/~01', value: 3 },
    ],
    { '~1': 3 },
  ],
  ['ignores unknown members of an operation', {}, [{ op: 'add', path: '/a', value: 1, xyz: 2 }], { a: 1 }],
  ['does nothing without operations', { a: 1 }, [], { a: 1 }],
];

/** Reason of the rejection, document and patch. */
const bad: readonly (readonly [string, Data, Data])[] = [
  ['is not a list', {}, { op: 'add' }],
  ['contains an operation that is not an object', {}, ['add']],
  ['does not name an operation', {}, [{ path: '/a', value: 1 }]],
  ['names an unknown operation', {}, [{ op: 'toString', path: '/a' }]],
  ['has no path', {}, [{ op: 'add', value: 1 }]],
  ['has a path without a slash', { a: 1 }, [{ op: 'remove', path: 'a' }]],
  ['has a path with a broken escape', { '~': 1 }, [{ op: 'remove', path: '/~' }]],
  ['has no value', {}, [{ op: 'add', path: '/a' }]],
  ['adds to a missing object', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
  ['adds after the end of a list', [1], [{ op: 'add', path: '/2', value: 1 }]],
  ['adds at a position with a leading zero', [1, 2], [{ op: 'add', path: '/01', value: 1 }]],
  ['removes a missing value', {}, [{ op: 'remove', path: '/a' }]],
  ['removes a member that only the prototype has', {}, [{ op: 'remove', path: '/constructor' }]],
  ['removes after the end of a list', [1], [{ op: 'remove', path: '/-' }]],
  ['replaces a missing value', {}, [{ op: 'replace', path: '/a', value: 1 }]],
  ['moves a value into itself', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b/c' }]],
  ['moves a missing value', {}, [{ op: 'move', from: '/a', path: '/b' }]],
  ['copies a missing value', { a: 1 }, [{ op: 'copy', path: '/b' }]],
  ['tests another value', { a: 1 }, [{ op: 'test', path: '/a', value: '1' }]],
  ['tests an entry of a string', { a: 'bc' }, [{ op: 'test', path: '/a/0', value: 'b' }]],
  ['removes the whole document', { a: 1 }, [{ op: 'remove', path: '' }]],
];

describe('a JSON patch', () => {
  for (const [does, document, patch, result] of good) {
    it(does, () => deepEqual(jsonPatch(document, patch), result));
  }

  for (const [why, document, patch] of bad) {
    it(`is rejected when it ${why}`, () => throws(() => jsonPatch(document, patch), PatchError));
  }

  it('reports which test failed', () => {
    const patch = [{ op: 'test', path: '/a', value: 2 }];
    throws(() => jsonPatch({ a: 1 }, patch), /test failed: the value at \/a differs/);
  });

  it('reports the operation that failed', () => {
    const patch: Data = [
      { op: 'add', path: '/a', value: 1 },
      { op: 'remove', path: '/b' },
    ];
    throws(() => jsonPatch({}, patch), { index: 1, message: 'operation 1: "b" does not exist' });
  });

  it('modifies neither the document that it is applied to nor itself', () => {
    const document = { a: [1] };
    const patch: Data = [
      { op: 'add', path: '/b', value: { c: [] } },
      { op: 'add', path: '/b/c/-', value: 1 },
    ];
    jsonPatch(document, patch);
    deepEqual(document, { a: [1] });
    deepEqual(patch[0], { op: 'add', path: '/b', value: { c: [] } });
  });

  it('copies values deeply', () => {
    const patch: Data = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/-', value: 2 },
    ];
    deepEqual(jsonPatch({ a: [1] }, patch), { a: [1], b: [1, 2] });
  });

  it('treats __proto__ as an ordinary key', () => {
    const result = jsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    equal(JSON.stringify(result), '{"__proto__":{"polluted":true}}');
    equal(Object.getPrototypeOf(result), Object.prototype);
    throws(() => jsonPatch({}, [{ op: 'add', path: '/__proto__/polluted', value: true }]));
    equal('polluted' in {}, false);
  });
});
