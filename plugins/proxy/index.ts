import { atBackend, atEndpoint, type DataObject, definePlugin, type Level, type Meaning } from '#contract';
import { attachBackend } from './backend.ts';
import { attachEndpoint } from './endpoint.ts';
import { backendProxySchema, endpointProxySchema } from './schema.ts';
import { convertStrategies, isSequence } from './strategy.ts';

/** Ways to combine responses in which equal keys are merged. */
const joining: readonly unknown[] = ['deep', 'append'];

export const plugin = definePlugin({
  name: 'proxy',
  description:
    'Configures how backends are called and how their responses are merged: order of calls, merge strategy, changes to the data, static data, shadow traffic.',
  freeKeys: true,
  leaves: ['requests'],
  convert: convertStrategies,
  meaning,
  places: [atEndpoint(endpointProxySchema, attachEndpoint), atBackend(backendProxySchema, attachBackend)],
});

/** Effects of the namespace on its sibling settings. */
function meaning(config: Readonly<DataObject>, level: Level): Meaning {
  const filter = config['flatmap_filter'] !== undefined && { filter: '/flatmap_filter' };
  if (level === 'backend') return { ...filter, ...(config['shadow'] === true && { apart: true }) };
  return {
    ...filter,
    ...(isSequence(config) && { sequence: '/sequential' }),
    ...(joining.includes(config['combiner']) && { joins: true }),
  };
}
