import { deepEqual, equal } from 'node:assert/strict';
import { type DataObject, parseExact, printJson } from '#contract';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { operations } from './around.ts';

const harness = (...lines: readonly string[]) => openHarness(plugin, 'backend', { flatmap_filter: operations(lines) });

/** The JSON text after the operations. */
async function apply(json: string, ...lines: readonly string[]): Promise<string> {
  const gate = await harness(...lines);
  return printJson(gate.attached.shape!(parseExact(json) as DataObject));
}

describe('the flatmap_filter setting of proxy', () => {
  describe('with "del"', () => {
    it('removes the last segment of a path', async () => {
      equal(await apply('{"a":{"b":1,"c":2},"d":3}', 'del a.b'), '{"a":{"c":2},"d":3}');
    });

    it('accepts several paths', async () => {
      equal(await apply('{"a":1,"b":2,"c":3}', 'del a c'), '{"b":2}');
    });

    it('sets a container to null if it loses its last child', async () => {
      equal(await apply('{"a":{"b":1}}', 'del a.b'), '{"a":null}');
      equal(await apply('{"a":[1]}', 'del a.0'), '{"a":null}');
    });

    it('removes every child if the last segment is *', async () => {
      equal(await apply('{"a":{"b":1,"c":2},"l":[1,2],"x":1}', 'del a.* l.*'), '{"a":null,"l":null,"x":1}');
    });

    it('keeps a container that was already empty', async () => {
      equal(await apply('{"a":{},"l":[]}', 'del a.* l.* a.b l.0'), '{"a":{},"l":[]}');
    });

    it('matches every member with *', async () => {
      equal(await apply('{"l":[{"a":1,"b":2},{"a":3},7]}', 'del l.*.a'), '{"l":[{"b":2},null,7]}');
      equal(await apply('{"o":{"x":{"a":1,"b":1},"y":{"a":2,"b":2}}}', 'del o.*.a'), '{"o":{"x":{"b":1},"y":{"b":2}}}');
    });

    it('keeps the original names of the remaining members for later operations', async () => {
      equal(await apply('{"l":["x","y","z"]}', 'del l.0', 'del l.1'), '{"l":["z"]}');
    });

    it('does nothing for a path that does not exist', async () => {
      equal(await apply('{"a":{"b":1},"l":[1]}', 'del x a.x.y a.b.c l.1 l.00 l.x'), '{"a":{"b":1},"l":[1]}');
    });

    it('returns empty data if the root loses its last child', async () => {
      equal(await apply('{"a":1}', 'del *'), '{}');
    });
  });

  describe('with a move between paths of equal length', () => {
    it('renames a child in place', async () => {
      equal(await apply('{"a":1,"b":2,"c":3}', 'move b x'), '{"a":1,"x":2,"c":3}');
    });

    it('uses only the last segment of the new path', async () => {
      equal(await apply('{"a":{"b":1}}', 'move a.b c.d'), '{"a":{"d":1}}');
    });

    it('renames in every container that * matches', async () => {
      const json = '{"a":[{"b":{"p":{"c":1},"q":{"c":2}}},{"b":[{"c":3},{"x":4}]}]}';
      const renamed = '{"a":[{"b":{"p":{"d":1},"q":{"d":2}}},{"b":[{"d":3},{"x":4}]}]}';
      equal(await apply(json, 'move a.*.b.*.c a.*.b.*.d'), renamed);
    });

    it('treats * as a name in the last segment', async () => {
      equal(await apply('{"a":{"*":1,"b":2}}', 'move a.* a.x'), '{"a":{"x":1,"b":2}}');
    });

    it('replaces an existing value with the same name', async () => {
      equal(await apply('{"a":1,"b":2}', 'move a b'), '{"b":1}');
      equal(await apply('{"b":2,"a":1}', 'move a b'), '{"b":1}');
    });

    it('does nothing if the name stays the same', async () => {
      equal(await apply('{"a":1}', 'move a a'), '{"a":1}');
    });
  });

  describe('with a move to a deeper path', () => {
    it('creates the objects of the new path', async () => {
      equal(await apply('{"a":1,"z":0}', 'move a b.c'), '{"z":0,"b":{"c":1}}');
    });

    it('uses existing objects', async () => {
      equal(await apply('{"a":1,"b":{"x":2}}', 'move a b.c'), '{"b":{"x":2,"c":1}}');
    });

    it('stays within each parent that * matches', async () => {
      equal(
        await apply('{"x":[{"a":1},{"a":2,"b":{"z":0}}]}', 'move x.*.a x.*.b.c'),
        '{"x":[{"b":{"c":1}},{"b":{"z":0,"c":2}}]}',
      );
    });

    it('can nest a value under its own name', async () => {
      equal(await apply('{"a":1}', 'move a a.b.c'), '{"a":{"b":{"c":1}}}');
    });

    it('replaces a scalar on the new path with an object', async () => {
      equal(await apply('{"a":1,"b":5}', 'move a b.c'), '{"b":{"c":1}}');
    });
  });

  describe('with a move to a shallower path', () => {
    it('attaches the value under the last segment', async () => {
      equal(await apply('{"z":{"s":"NY"}}', 'move z.s ss', 'del z'), '{"ss":"NY"}');
    });

    it('sets a parent to null if it loses its last child', async () => {
      equal(await apply('{"z":{"s":"NY"}}', 'move z.s ss'), '{"z":null,"ss":"NY"}');
    });

    it('replaces * in the new path with the matching key of the source', async () => {
      equal(
        await apply('{"a":{"p":{"n":{"v":1}},"q":{"n":{"v":2}}}}', 'move a.*.n.v a.*.v'),
        '{"a":{"p":{"n":null,"v":1},"q":{"n":null,"v":2}}}',
      );
      equal(
        await apply('{"l":[{"n":{"v":1}},{"n":{"v":2}}]}', 'move l.*.n.v l.*.v', 'del l.*.n'),
        '{"l":[{"v":1},{"v":2}]}',
      );
    });

    it('keeps only the last of several sources', async () => {
      equal(await apply('{"l":[{"v":1},{"v":2}]}', 'move l.*.v v', 'del l'), '{"v":2}');
    });

    it('attaches the value to the deepest existing object', async () => {
      equal(await apply('{"a":{"b":{"c":{"d":1}}}}', 'move a.b.c.d a.x.y'), '{"a":{"b":{"c":null},"y":1}}');
    });

    it('replaces an existing value with the same name', async () => {
      equal(await apply('{"v":0,"a":{"v":1,"w":2}}', 'move a.v v'), '{"v":1,"a":{"w":2}}');
    });

    it('moves whole branches, regardless of earlier operations', async () => {
      equal(
        await apply('{"a":{"b":{"c":1,"d":[{"e":1}]}}}', 'del a.b.c', 'move a.b b', 'del a'),
        '{"b":{"d":[{"e":1}]}}',
      );
    });
  });

  it('does nothing if the source does not exist', async () => {
    equal(await apply('{"a":1,"b":{}}', 'move x y', 'move x y.z', 'move b.x y', 'move a.b c'), '{"a":1,"b":{}}');
  });

  describe('with "append"', () => {
    it('adds the items to the target and removes the source', async () => {
      equal(await apply('{"k":[1],"s":[2]}', 'append k s'), '{"s":[2,1]}');
    });

    it('does nothing unless both values are arrays', async () => {
      const json = '{"k":[1],"o":{"a":1},"n":null,"v":3}';
      equal(
        await apply(
          json,
          'append o k',
          'append k o',
          'append k v',
          'append v k',
          'append n k',
          'append k x',
          'append x k',
        ),
        json,
      );
    });

    it('matches the members of every array with *', async () => {
      equal(
        await apply('{"a":[{"k":[1,2]},{"k":3},{"k":[4]}],"s":[0]}', 'append a.*.k s'),
        '{"a":[null,{"k":3},null],"s":[0,1,2,4]}',
      );
      equal(await apply('{"a":{"p":[1],"q":2,"r":[3],"s":[4]},"t":[]}', 'append a.* t'), '{"a":{"q":2},"t":[1,3,4]}');
    });

    it('accepts empty arrays as source and target', async () => {
      equal(await apply('{"k":[],"s":[1]}', 'append k s'), '{"s":[1]}');
      equal(await apply('{"k":[1],"s":[]}', 'append k s'), '{"s":[1]}');
    });

    it('assigns new names to the added members', async () => {
      equal(await apply('{"s":["a","b"],"k":["c"]}', 'del s.0', 'append k s', 'del s.2'), '{"s":["b"]}');
    });

    it('keeps an array that is its own target or that contains its target', async () => {
      equal(await apply('{"l":[[1],2]}', 'append l l', 'append l l.0'), '{"l":[[1],2]}');
    });

    it('can append a member of the target itself', async () => {
      equal(await apply('{"l":[[1,[9]],2,[3]]}', 'append l.* l'), '{"l":[2,1,[9],3]}');
    });

    it('ignores arrays that lost members in earlier operations', async () => {
      equal(await apply('{"k":[1],"s":[2]}', 'del s.*', 'append k s'), '{"k":[1],"s":null}');
    });
  });

  it('runs operations in order, each on the result of the previous one', async () => {
    equal(await apply('{"a":{"b":{"c":1}}}', 'move a.b.c a.c', 'del a.b', 'move a x'), '{"x":{"c":1}}');
  });

  it('preserves numbers exactly', async () => {
    equal(await apply('{"a":{"id":12345678901234567890}}', 'move a.id id', 'del a'), '{"id":12345678901234567890}');
  });

  it('treats keys such as __proto__ as plain data', async () => {
    equal(
      await apply('{"a":{"__proto__":{"x":1}},"b":1}', 'move a.__proto__.x a.x', 'move b __proto__.y'),
      '{"a":{"__proto__":null,"x":1},"__proto__":{"y":1}}',
    );
    equal(await apply('{"a":1}', 'del constructor toString.x'), '{"a":1}');
  });

  it('never modifies its input', async () => {
    const gate = await harness('del a.b', 'move l.*.x l.*.y.z', 'append k s');
    const data = parseExact('{"a":{"b":1},"l":[{"x":1}],"k":[1],"s":[2]}') as DataObject;
    const before = structuredClone(data);
    gate.attached.shape!(data);
    deepEqual(data, before);
  });
});
