import type { AtBackend, AtEndpoint, AtService, Catalogue, Plugin } from '#contract';
import { atBackend, atEndpoint, atService, definePlugin } from '#contract';
import { type GatewayOptions, type Operations, startGateway } from '../../kernel/index.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { catalogue } from '../../plugins/index.ts';
import { patiently } from './gateway.ts';

/** Attachments of the component `test`, by the word in its configuration. */
export interface Acts {
  readonly service?: AtService;
  readonly endpoint?: Readonly<Record<string, AtEndpoint>>;
  readonly backend?: Readonly<Record<string, AtBackend>>;
}

/** A gateway with an additional component, `test`, whose configuration `{ "act": name }` selects its behavior. */
export function startPlugged(config: object, acts: Acts, options: GatewayOptions = {}): Promise<Operations> {
  const schema = {
    type: 'object',
    properties: { act: { type: 'string', description: 'What to do.', default: '' } },
  } as const;
  const plugin = definePlugin({
    name: 'test',
    description: 'Does what a test needs.',
    places: [
      atService(schema, () => acts.service ?? {}),
      atEndpoint(schema, ({ config: { act } }) => acts.endpoint?.[act] ?? {}),
      atBackend(schema, ({ config: { act } }) => acts.backend?.[act] ?? {}),
    ],
  });
  const plugged: Catalogue = {
    ...catalogue,
    plugins: { ...catalogue.plugins, test: async () => ({ plugin }) },
  };
  return startOf(plugged, config, options);
}

/** A gateway with additional plugins. */
export function startWith(
  plugins: readonly Plugin[],
  config: object,
  options: GatewayOptions = {},
): Promise<Operations> {
  const more = Object.fromEntries(plugins.map((plugin) => [plugin.name, async () => ({ plugin })]));
  const plugged: Catalogue = { ...catalogue, plugins: { ...catalogue.plugins, ...more } };
  return startOf(plugged, config, options);
}

function startOf(plugged: Catalogue, config: object, options: GatewayOptions): Promise<Operations> {
  return patiently((source) => startGateway(plugged, source, { port: 0, sinks: silentSinks, ...options }), config);
}
