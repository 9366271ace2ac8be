import { deepEqual } from 'node:assert/strict';
import { atEndpoint, atService, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';

const nothing = { type: 'object', properties: {} } as const;
const flag = { type: 'boolean', description: 'Whether it does.', default: false } as const;
const places = [atService(nothing, () => ({}))];
const source = definePlugin({ name: 'test/source', description: 'Counts.', places });
const sink = definePlugin({ name: 'test/sink', description: 'Writes counts.', expects: ['test/source'], places });

const user = definePlugin({
  name: 'test/user',
  description: 'May use what is shared.',
  places: [atEndpoint({ type: 'object', properties: { uses: flag } }, () => ({}))],
});
const shared = definePlugin({
  name: 'test/shared',
  description: 'Shared by endpoints.',
  expectsBelow: { component: 'test/user', suits: ({ uses }) => uses === true, called: 'test/user with "uses": true' },
  places,
});

describe('a component that requires a companion component', () => {
  const findings = async (components: object, endpoints: object[] = []) => {
    const plugins = {
      'test/shared': async () => ({ plugin: shared }),
      'test/user': async () => ({ plugin: user }),
      'test/source': async () => ({ plugin: source }),
      'test/sink': async () => ({ plugin: sink }),
    };
    const registry = new Registry({ ...catalogue, plugins: { ...catalogue.plugins, ...plugins } }, toolServices());
    const { errors, warnings } = await examine({ version: 3, endpoints, extra_config: components }, {}, registry, true);
    await registry.close();
    return { errors, warnings: warnings.map(({ code, pointer, message, hint }) => ({ code, pointer, message, hint })) };
  };

  it('causes a warning if the companion is missing', async () => {
    const warning = {
      code: 'COMPONENT_UNUSED',
      pointer: '/extra_config/test~1sink',
      message: 'test/sink has no effect without test/source',
      hint: 'add "test/source" to extra_config at the root',
    };
    deepEqual(await findings({ 'test/sink': {} }), { errors: [], warnings: [warning] });
  });

  it('causes a warning if no endpoint has the companion with the required setting', async () => {
    const endpoint = (extra_config: object) => ({
      endpoint: '/a',
      extra_config,
      backend: [{ host: ['http://b'], url_pattern: '/' }],
    });
    const warning = {
      code: 'COMPONENT_UNUSED',
      pointer: '/extra_config/test~1shared',
      message: 'test/shared has no effect: no endpoint uses test/user with "uses": true',
      hint: undefined,
    };
    for (const endpoints of [[], [endpoint({})], [endpoint({ 'test/user': {} })]]) {
      deepEqual(await findings({ 'test/shared': {} }, endpoints), { errors: [], warnings: [warning] });
    }
    const used = [endpoint({}), { ...endpoint({ 'test/user': { uses: true } }), endpoint: '/b' }];
    deepEqual(await findings({ 'test/shared': {} }, used), { errors: [], warnings: [] });
  });

  it('is accepted together with the companion, which is also accepted alone', async () => {
    const nothingFound = { errors: [], warnings: [] };
    deepEqual(await findings({ 'test/sink': {}, 'test/source': {} }), nothingFound);
    deepEqual(await findings({ 'test/source': {} }), nothingFound);
  });
});
