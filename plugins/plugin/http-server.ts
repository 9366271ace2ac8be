import { type AtService, atService, type ClientRequest, definePlugin, type ServerHandler, type Wrap } from '#contract';
import { keyAggregators } from '../clients/keys/key-aggregator.ts';
import { anyHeader, personalHeaders } from '../shared/http-headers/personal.ts';
import { geoLocations } from '../shared/ports/geo.ts';
import { type BuiltInServer, serverBuiltIns, serverSchemas } from './built-ins/servers.ts';
import { asFunction, contained, hostPorts, joined, make } from './lib/make.ts';
import { findBuiltIns, findModules } from './lib/named-built-ins.ts';
import { convertBasicAuth } from './lib/old-basic-auth.ts';
import { oldHandlers } from './lib/old-handlers.ts';
import { convertRedisRatelimit } from './lib/old-redis-ratelimit.ts';
import { convertServers, successors } from './lib/old-servers.ts';
import { wholeConfig } from './lib/place.ts';
import { convertLists, listedPlugins, pluginList } from './lib/plugin-lists.ts';
import { aroundService, clientIp } from './lib/server-call.ts';
import { SyncTime } from './lib/sync-time.ts';
import { convertWildcards } from './lib/wildcards.ts';

const schema = {
  type: 'object',
  title: 'Custom HTTP servers',
  examples: [
    { name: ['example'], example: { header: 'X-Team' } },
    {
      name: ['url-rewrite', 'ip-filter'],
      'ip-filter': { CIDR: ['10.0.0.0/8'], allow: true, client_ip_headers: [] },
      'url-rewrite': { literal: { '/hi': '/hello' } },
    },
  ],
  properties: {
    name: {
      anyOf: [
        { type: 'array', items: { type: 'string', minLength: 1 } },
        { type: 'string', minLength: 1 },
      ],
      description: 'Handler names. The last one is outermost and processes requests first.',
      default: [],
    },
    plugins: pluginList,
    ...serverSchemas,
  },
  values: { type: 'any', description: 'Settings of the handler with this name.' },
} as const;

const builtInNames = Object.keys(serverSchemas) as (keyof typeof serverSchemas)[];

/**
 * Runs handlers of loaded modules and built-in plugins around every request, before routing.
 * Configuration errors: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `PLUGIN_FIELD`, `PLUGIN_DUPLICATE`,
 * `CONFIG_NOT_SUPPORTED`; a warning `PLUGIN_UNUSED`. For old forms: `WILDCARD_FORM`, `WILDCARD_ENDPOINT`,
 * `WILDCARD_PREFIX`, `BASIC_FORM`, `BASIC_ENDPOINT`, `REDIS_RATELIMIT_FORM`, `PLUGIN_DUPLICATE`; a warning
 * `CONFIG_OLD_PLUGIN`.
 */
export const plugin = definePlugin({
  name: 'plugin/http-server',
  description: 'Runs custom handlers for all requests, before routing.',
  oldHandlers,
  opens: ['/jwk-aggregator/port'],
  independent: true,
  offers: [personalHeaders, geoLocations, keyAggregators],
  takes: hostPorts,
  becomes: [...Object.values(successors), 'auth/basic', 'redis', 'qos/ratelimit/service/redis'],
  inVersionFour: listedPlugins,
  convert(document, report) {
    convertLists('plugin/http-server', document, report);
    convertServers(document, report);
    // Protects endpoints before they are copied.
    convertBasicAuth(document, report);
    convertRedisRatelimit(document, report);
    convertWildcards(document, report);
  },
  places: [
    atService(schema, (site) => {
      const { log, encoding } = site;
      const host = { clientIp };
      const written = site.config.name;
      const names = [written].flat();
      const pointerOf = (index: number) => (typeof written === 'string' ? '/name' : `/name/${index}`);
      const builtIns = findBuiltIns(site, names, builtInNames, ['httpServer'], pointerOf);
      const modules = findModules(site, names, builtIns, ['httpServer'], pointerOf);
      const own: BuiltInServer[] = [];
      const wraps = names.map((_name, index): Wrap<ClientRequest> => {
        const builtIn = builtIns.get(index);
        if (builtIn) {
          const attach = serverBuiltIns[builtIn.name] as (...given: unknown[]) => BuiltInServer;
          own.push(attach(site, builtIn.settings, builtIn.pointer));
          return own.at(-1)!.wrap;
        }
        const named = modules.get(index)!;
        const attached = contained(site, 'httpServer', named, (): AtService => {
          const made = make<ServerHandler>(site, 'httpServer', named, wholeConfig(site, named), asFunction, host);
          return { request: aroundService({ made, time: new SyncTime(site, 'server', made.name), encoding }) };
        });
        return attached.request!;
      });
      if (wraps.length === 0) {
        log.debug('no handlers are named');
        return {};
      }
      return {
        request: joined(wraps.toReversed()),
        sets: own.flatMap(({ sets = [] }) => sets),
        offers: [...own.flatMap(({ offers = [] }) => offers), ...(modules.size > 0 ? [anyHeader] : [])],
      };
    }),
  ],
});
