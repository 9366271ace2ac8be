import { deepEqual, match } from 'node:assert/strict';
import { atBackend, atService, definePlugin, type Plugin, type Step } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { sortByOrder } from '../../../kernel/registry/order.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';

const order = { middleware: [], request: [], endpoint: [], proxy: ['a', 'b'], backend: [], transport: [] };
const named = (name: string, more: Partial<Plugin> = {}) => definePlugin({ name, description: 'Stands.', ...more });

describe('plugins that the order table does not list', () => {
  const sorted = (...plugins: Plugin[]) =>
    sortByOrder(
      plugins.map((plugin) => ({ plugin })),
      order,
      'proxy',
    ).map(({ plugin }) => plugin.name);

  it('are placed directly outside or inside the plugin that they name', () => {
    deepEqual(sorted(named('b'), named('x', { outside: 'b' }), named('y', { inside: 'a' }), named('a')), [
      'a',
      'x',
      'y',
      'b',
    ]);
  });
  it('can name a plugin that is not in the table either', () => {
    const plugins = [
      named('b'),
      named('y', { outside: 'x' }),
      named('x', { outside: 'b' }),
      named('z', { inside: 'x' }),
    ];
    deepEqual(sorted(...plugins), ['y', 'x', 'z', 'b']);
  });
  it('are innermost if they name a missing plugin, or each other', () => {
    const plugins = [
      named('x', { outside: 'y' }),
      named('y', { outside: 'x' }),
      named('z', { inside: 'n' }),
      named('b'),
    ];
    deepEqual(sorted(...plugins)[0], 'b');
  });
});

describe('a component at the root that attaches to every endpoint', () => {
  const table = { ...order, endpoint: ['service: limit', 'keys', 'limit'] };
  const sortedNames = (...items: { name: string; ofService?: true }[]) =>
    sortByOrder(
      items.map(({ name, ...rest }) => ({ plugin: named(name), ...rest })),
      table,
      'endpoint',
    ).map(({ plugin, ofService }) => `${plugin.name}${ofService ? ' of the service' : ''}`);

  it('has its own position if the order table lists it', () => {
    deepEqual(sortedNames({ name: 'limit' }, { name: 'keys' }, { name: 'limit', ofService: true }), [
      'limit of the service',
      'keys',
      'limit',
    ]);
  });
  it("has the position of the endpoint's component if the order table does not list it", () => {
    deepEqual(sortedNames({ name: 'limit' }, { name: 'keys', ofService: true }), ['keys of the service', 'limit']);
  });
});

describe('a component that responds by itself', () => {
  const nothing = { type: 'object', properties: {} } as const;
  const pass = <R>(next: Step<R>): Step<R> => next;
  const responding = definePlugin({
    name: 'test/answering',
    description: 'Answers by itself.',
    places: [
      atBackend(nothing, () => ({ terminal: true, backend: pass })),
      atService(nothing, () => ({ terminal: true, request: pass })),
    ],
  });
  const inner = definePlugin({
    name: 'test/inner',
    description: 'Stands inside.',
    places: [atBackend(nothing, () => ({ transport: pass })), atService(nothing, () => ({ request: pass }))],
  });
  const both = { 'test/answering': {}, 'test/inner': {} };
  const more = Object.fromEntries([responding, inner].map((plugin) => [plugin.name, async () => ({ plugin })]));
  const plugged = { ...catalogue, plugins: { ...catalogue.plugins, ...more } };

  const hidden = async (root: object, backend: object) => {
    const backends = [{ host: ['http://127.0.0.1:9'], url_pattern: '/', extra_config: backend }];
    const document = { version: 3, extra_config: root, endpoints: [{ endpoint: '/a', backend: backends }] };
    const registry = new Registry(plugged, toolServices());
    const { warnings } = await examine(document, {}, registry, false);
    await registry.close();
    return warnings.filter(({ code }) => code === 'PLUGIN_HIDDEN');
  };

  it('causes a warning at a backend if it keeps an inner component from running', async () => {
    const [warning] = await hidden({}, both);
    match(warning!.message, /"test\/answering" can respond without calling "test\/inner", which may never run/);
  });
  it('causes a warning at the root if it keeps an inner component from running', async () => {
    deepEqual(
      (await hidden(both, {})).map(({ pointer }) => pointer),
      ['/extra_config/test~1answering'],
    );
  });
  it('causes no warning without an inner component', async () => {
    deepEqual(await hidden({}, { 'test/answering': {} }), []);
  });
});
