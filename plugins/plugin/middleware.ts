import { atBackend, atEndpoint, definePlugin, httpSigners, meters, type PipeRequest, type Wrap } from '#contract';
import { anyHeader, personalHeaders } from '../services/personal-headers.ts';
import { aroundPipe, type MiddlewareHandler } from './lib/around.ts';
import { handlers } from './lib/handlers.ts';
import { asFunction, make } from './lib/make.ts';
import { findNamed, type NamingSite } from './lib/place.ts';
import { SyncTime } from './lib/sync-time.ts';

const schema = {
  type: 'object',
  title: 'Middleware of your own',
  examples: [{ name: ['example'], example: { header: 'X-Team' } }],
  required: ['name'],
  properties: {
    name: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Names of middleware, the first one outermost.',
    },
  },
  values: { type: 'any', description: 'The settings of the middleware of this name.' },
} as const;

/**
 * Runs middleware of loaded modules around the backends of an endpoint, or around one backend.
 *
 * Faults of the configuration: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`; a warning `PLUGIN_UNUSED`. Errors of a
 * call: `PLUGIN_ERROR`, `PLUGIN_RESPONSE`.
 */
export const plugin = definePlugin({
  name: 'plugin/middleware',
  description: 'Runs middleware of your own around the backends of an endpoint, or around one backend.',
  offers: [personalHeaders],
  takes: [handlers, meters, httpSigners],
  places: [
    atEndpoint(schema, (site) => {
      const wrap = attach(site, isRaw(site, site.endpoint.output_encoding));
      return wrap ? { proxy: wrap, readsData: 'optional', offers: [anyHeader] } : {};
    }),
    atBackend(schema, (site) => {
      const wrap = attach(site, isRaw(site, site.endpoint.output_encoding));
      return wrap ? { backend: wrap, readsData: 'optional', offers: [anyHeader] } : {};
    }),
  ],
});

function isRaw(site: NamingSite, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
}

/** @returns undefined where nothing is named. */
function attach(site: NamingSite, raw: boolean): Wrap<PipeRequest> | undefined {
  const names = site.config['name'] as readonly string[];
  const wraps = findNamed(site, names, ['middleware']).map((named) => {
    const made = make<MiddlewareHandler>(site, 'middleware', named, named.settings ?? {}, asFunction);
    return aroundPipe(made, { raw, log: site.log, time: new SyncTime(site, 'middleware', made.name) });
  });
  if (wraps.length === 0) return undefined;
  return (next) => wraps.reduceRight((inner, wrap) => wrap(inner), next);
}
