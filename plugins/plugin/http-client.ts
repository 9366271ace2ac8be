import { type AtBackend, atBackend, type BackendSite, definePlugin } from '#contract';
import { anyHeader, personalHeaders } from '../shared/http-headers/personal.ts';
import { stageOf } from './isolated/place.ts';
import { type Handlers, handlers } from './lib/handlers.ts';
import { contained, hostPorts } from './lib/make.ts';
import { convertClients } from './lib/old-clients.ts';
import { oldHandlers } from './lib/old-handlers.ts';
import { findNamed, type NamingSite, wholeConfig } from './lib/place.ts';
import { STATIC_CLIENT, staticClient } from './lib/static-client.ts';

const schema = {
  type: 'object',
  title: 'A custom HTTP client',
  examples: [{ name: 'example', example: { header: 'X-Team' } }],
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Client name.' },
  },
  values: { type: 'any', description: 'Settings of the client with this name.' },
} as const;

/**
 * Calls a backend through the client of a loaded module instead of the gateway's own. Ignored with protocols other than
 * HTTP.
 * Configuration errors: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `REDIS_CONNECTION`, `QUOTA_UNKNOWN`,
 * `QUOTA_RULE`, `CONFIG_NOT_SUPPORTED`, `STATIC_PATH`; warnings `PLUGIN_UNUSED`, `BACKEND_NO_HTTP`,
 * `CONFIG_OLD_PLUGIN`. Errors of a call: `PLUGIN_ERROR`, `PLUGIN_RESPONSE`.
 */
export const plugin = definePlugin({
  name: 'plugin/http-client',
  description: 'Calls a backend with a custom HTTP client.',
  oldHandlers,
  offers: [personalHeaders],
  takes: hostPorts,
  convert: convertClients,
  places: [
    atBackend(schema, (site: NamingSite & BackendSite<unknown>) => {
      const { config, log } = site;
      if (config['name'] === STATIC_CLIENT && !site.takeAll(handlers).some(isStaticClient)) {
        return { transport: staticClient(site), onlyHttp: true };
      }
      const [named] = findNamed(site, [config['name'] as string], ['httpClient'], () => '/name');
      log.debug(`Injecting plugin ${named!.entry.name}`);
      return contained(site, 'httpClient', named!, (): AtBackend => {
        return {
          transport: stageOf(site, 'httpClient', named!, wholeConfig(site, named!), false),
          onlyHttp: true,
          offers: [anyHeader],
        };
      });
    }),
  ],
});

/** Whether the built-in client is used: a loaded module with the same name replaces it. */
function isStaticClient({ name, httpClient }: Handlers): boolean {
  return name === STATIC_CLIENT && httpClient !== undefined;
}
