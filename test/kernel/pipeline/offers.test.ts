import { deepEqual, equal, throws } from 'node:assert/strict';
import { createContainer } from 'awilix';
import type { Plugin, Port } from '#contract';
import { byDependency, Offers } from '../../../kernel/pipeline/attach/offers.ts';

const port = (name: string): Port<string> => ({ name });
const offer = (name: string, value: string) => ({ port: port(name), value });

function plugin(name: string, { offers = [] as string[], takes = undefined as string[] | undefined } = {}): Plugin {
  return { name, description: '', offers: offers.map(port), ...(takes && { takes: takes.map(port) }) } as Plugin;
}

const giver = plugin('giver', { offers: ['key', 'door'] });
const taker = plugin('taker', { takes: ['key'] });

describe('values that plugins provide to one another', () => {
  it('are collected from the place of the plugin and all enclosing places, innermost last', () => {
    const service = Offers.atRoot(createContainer());
    service.add(giver, [offer('key', 'outer'), offer('door', 'oak')]);
    const endpoint = service.within();
    const backend = endpoint.within();
    backend.add(giver, [offer('key', 'inner'), offer('door', 'pine'), offer('key', 'inmost')]);
    deepEqual(backend.takeAll(taker, port('key')), ['outer', 'inner', 'inmost']);
    equal(backend.take(taker, port('key')), 'inmost');
    equal(endpoint.take(taker, port('key')), 'outer');
  });

  it('can be undefined', () => {
    const offers = Offers.atRoot(createContainer());
    offers.add(giver, undefined);
    deepEqual([offers.take(taker, port('key')), offers.takeAll(taker, port('key'))], [undefined, []]);
  });

  it('come from a component that is attached on demand, if the declaration of the value names that component and no other provides one', () => {
    const asked: string[] = [];
    const service = Offers.atRoot(createContainer(), (namespace) => {
      asked.push(namespace);
      service.add(giver, [offer('key', 'default')]);
    });
    const backend = service.within();
    equal(backend.take(taker, port('key')), undefined);
    const keyOfGiver = { ...port('key'), from: 'giver' };
    deepEqual([backend.take(taker, keyOfGiver), backend.take(taker, keyOfGiver)], ['default', 'default']);
    deepEqual(asked, ['giver']);
  });

  it('are rejected if the plugin does not declare them', () => {
    const offers = Offers.atRoot(createContainer());
    throws(
      () => offers.add(taker, [offer('key', 'x')]),
      /^Error: plugin "taker" must list the port "key" in "offers"$/,
    );
    throws(() => offers.add(giver, [offer('bell', 'x')]), /"giver" must list the port "bell" in "offers"/);
    throws(() => offers.take(taker, port('door')), /"taker" must list the port "door" in "takes"/);
    throws(() => offers.take(giver, port('key')), /"giver" must list the port "key" in "takes"/);
  });
});

describe('the order in which plugins are attached', () => {
  const order = (...plugins: Plugin[]) =>
    byDependency(plugins.map((one) => ({ plugin: one }))).map((item) => item.plugin.name);

  it('is the order in the file if no plugin uses values of another', () => {
    const items = [plugin('b'), plugin('a')].map((one) => ({ plugin: one }));
    equal(byDependency(items), items);
  });

  it('puts plugins that provide values before the plugins that use them, and moves no other plugin', () => {
    const last = plugin('last', { takes: ['bell'] });
    const middle = plugin('middle', { takes: ['key'], offers: ['bell'] });
    deepEqual(order(plugin('a'), last, plugin('b'), middle, giver, plugin('c')), [
      'a',
      'giver',
      'middle',
      'last',
      'b',
      'c',
    ]);
  });

  it("is the order in the file if two plugins use each other's values", () => {
    const one = plugin('one', { takes: ['a'], offers: ['b'] });
    const other = plugin('other', { takes: ['b'], offers: ['a'] });
    deepEqual(
      [order(one, other), order(other, one)],
      [
        ['other', 'one'],
        ['one', 'other'],
      ],
    );
  });
});
