import { deepEqual } from 'node:assert/strict';
import { atService, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build.ts';
import { catalogue } from '../../../plugins/index.ts';

const nothing = { type: 'object', properties: {} } as const;
const places = [atService(nothing, () => ({}))];
const source = definePlugin({ name: 'test/source', description: 'Counts.', places });
const sink = definePlugin({ name: 'test/sink', description: 'Writes counts.', expects: ['test/source'], places });

describe('a component that expects another one', () => {
  const findings = async (components: object) => {
    const plugins = { 'test/source': async () => ({ plugin: source }), 'test/sink': async () => ({ plugin: sink }) };
    const registry = new Registry({ ...catalogue, plugins: { ...catalogue.plugins, ...plugins } }, toolServices());
    const { errors, warnings } = await examine(
      { version: 3, endpoints: [], extra_config: components },
      {},
      registry,
      true,
    );
    await registry.close();
    return { errors, warnings: warnings.map(({ code, pointer, message, hint }) => ({ code, pointer, message, hint })) };
  };

  it('is warned of where the other one is missing, and not refused', async () => {
    const warning = {
      code: 'COMPONENT_UNUSED',
      pointer: '/extra_config/test~1sink',
      message: 'test/sink has no effect without test/source',
      hint: 'add "test/source" to extra_config at the root',
    };
    deepEqual(await findings({ 'test/sink': {} }), { errors: [], warnings: [warning] });
  });

  it('is taken beside it, and the other one by itself', async () => {
    const nothingFound = { errors: [], warnings: [] };
    deepEqual(await findings({ 'test/sink': {}, 'test/source': {} }), nothingFound);
    deepEqual(await findings({ 'test/source': {} }), nothingFound);
  });
});
