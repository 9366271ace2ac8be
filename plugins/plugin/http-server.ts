import { type AtService, atService, definePlugin, httpSigners, meters } from '#contract';
import { anyHeader, personalHeaders } from '../services/personal-headers.ts';
import { handlers } from './lib/handlers.ts';
import { asFunction, contained, joined, make } from './lib/make.ts';
import { convertBasicAuth } from './lib/old-basic-auth.ts';
import { convertServers, successors } from './lib/old-servers.ts';
import { findNamed, type NamingSite, wholeConfig } from './lib/place.ts';
import { aroundService, clientIp, type ServerHandler } from './lib/server-call.ts';
import { SyncTime } from './lib/sync-time.ts';
import { convertWildcards } from './lib/wildcards.ts';

const schema = {
  type: 'object',
  title: 'HTTP servers of your own',
  examples: [{ name: ['example'], example: { header: 'X-Team' } }],
  properties: {
    name: {
      anyOf: [
        { type: 'array', items: { type: 'string', minLength: 1 } },
        { type: 'string', minLength: 1 },
      ],
      description: 'Names of handlers, the last one outermost: it sees the request first.',
      default: [],
    },
  },
  values: { type: 'any', description: 'The settings of the handler of this name.' },
} as const;

/**
 * Runs handlers of loaded modules around everything that is answered, before any endpoint is looked for.
 *
 * Faults of the configuration: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `CONFIG_NOT_SUPPORTED`; a warning
 * `PLUGIN_UNUSED`. Of old forms: `WILDCARD_FORM`, `WILDCARD_ENDPOINT`, `WILDCARD_PREFIX`, `BASIC_FORM`, `BASIC_ENDPOINT`,
 * `PLUGIN_DUPLICATE`; a warning `CONFIG_OLD_PLUGIN`.
 */
export const plugin = definePlugin({
  name: 'plugin/http-server',
  description: 'Runs handlers of your own around everything that is answered.',
  offers: [personalHeaders],
  takes: [handlers, meters, httpSigners],
  becomes: [...Object.values(successors), 'auth/basic'],
  convert(document, report) {
    convertServers(document, report);
    // Endpoints are protected before copies of them are made.
    convertBasicAuth(document, report);
    convertWildcards(document, report);
  },
  places: [
    atService(schema, (site: NamingSite) => {
      const { log, encoding } = site;
      const host = { clientIp };
      const written = site.config['name'] as string | readonly string[];
      const pointerOf = typeof written === 'string' ? () => '/name' : undefined;
      const wraps = findNamed(site, [written].flat(), ['httpServer'], pointerOf).map((named) => {
        const attached = contained(site, 'httpServer', named, (): AtService => {
          const made = make<ServerHandler>(site, 'httpServer', named, wholeConfig(site, named), asFunction, host);
          return { request: aroundService({ made, time: new SyncTime(site, 'server', made.name), encoding }) };
        });
        return attached.request!;
      });
      if (wraps.length > 0) return { request: joined(wraps.toReversed()), offers: [anyHeader] };
      log.debug('no handlers are named');
      return {};
    }),
  ],
});
