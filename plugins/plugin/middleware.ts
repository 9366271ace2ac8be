import { type AtBackend, type AtEndpoint, atBackend, atEndpoint, definePlugin } from '#contract';
import { anyHeader, personalHeaders } from '../shared/http-headers/personal.ts';
import { stageOf } from './isolated/place.ts';
import { contained, hostPorts, joined } from './lib/make.ts';
import { findNamed, type NamingSite } from './lib/place.ts';
import { convertLists, listedPlugins, pluginList } from './lib/plugin-lists.ts';

const schema = {
  type: 'object',
  title: 'Custom middleware',
  examples: [{ name: ['example'], example: { header: 'X-Team' } }],
  exactlyOneOf: [['name', 'plugins']],
  properties: {
    name: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Middleware names. The first one is outermost.',
    },
    plugins: pluginList,
  },
  values: { type: 'any', description: 'Settings of the middleware with this name.' },
} as const;

/**
 * Runs middleware of loaded modules around the backends of an endpoint, or around one backend.
 * Configuration errors: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `REDIS_CONNECTION`, `QUOTA_UNKNOWN`,
 * `QUOTA_RULE`; a warning `PLUGIN_UNUSED`. Errors of a call: `PLUGIN_ERROR`, `PLUGIN_RESPONSE`.
 */
export const plugin = definePlugin({
  name: 'plugin/middleware',
  description: 'Runs custom middleware around the backends of an endpoint, or around one backend.',
  offers: [personalHeaders],
  takes: hostPorts,
  inVersionFour: listedPlugins,
  convert(document, report) {
    convertLists('plugin/middleware', document, report);
  },
  places: [
    atEndpoint(schema, (site) => {
      return attach(site, 'proxy', isRaw(site, site.endpoint.output_encoding));
    }),
    atBackend(schema, (site) => {
      return attach(site, 'backend', isRaw(site, site.endpoint.output_encoding));
    }),
  ],
});

function isRaw(site: NamingSite, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
}

/** Combines all listed middleware into one wrap of a phase. */
function attach(site: NamingSite, phase: 'proxy' | 'backend', raw: boolean): AtEndpoint & AtBackend {
  const names = site.config['name'] as readonly string[];
  const wraps = findNamed(site, names, ['middleware']).map((named) => {
    const attached = contained(site, 'middleware', named, (): AtEndpoint & AtBackend => {
      return { [phase]: stageOf(site, 'middleware', named, named.settings ?? {}, raw) };
    });
    return attached[phase]!;
  });
  if (wraps.length === 0) return {};
  return { [phase]: joined(wraps), readsData: 'optional', offers: [anyHeader] };
}
