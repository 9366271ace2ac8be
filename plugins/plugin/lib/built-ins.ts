import type { ConfigError } from '#contract';
import type { Kind } from './handlers.ts';
import type { HostSite } from './host.ts';

/** Plugins that the compatible product brings itself, by kind, each with the component that does its work. */
const builtIns: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  httpServer: {
    'basic-auth': 'auth/basic',
    geoip: 'plugin/http-server with "geoip"',
    'ip-filter': 'plugin/http-server with "ip-filter"',
    'jwk-aggregator': 'plugin/http-server with "jwk-aggregator"',
    'redis-ratelimit': 'qos/ratelimit/service/redis',
    'static-filesystem': 'server/static-filesystem',
    'url-rewrite': 'plugin/http-server with "url-rewrite"',
    virtualhost: 'server/virtualhost',
  },
  httpClient: { 'static-filesystem': 'backend/static-filesystem' },
  requestModifier: {
    'content-replacer': 'modifier/response-body',
    'ip-filter': 'security/policies',
    'response-schema-validator': 'validation/response-json-schema',
  },
};

/** The refusal of a plugin that the compatible product has and this release has not; undefined for any other name. */
export function refuseBuiltIn(
  site: HostSite,
  name: string,
  kinds: readonly Kind[],
  pointer: string,
): ConfigError | undefined {
  const known = kinds.map((kind) => builtIns[kind]).find((names) => names && Object.hasOwn(names, name));
  if (!known) return undefined;
  return site.fault('CONFIG_NOT_SUPPORTED', pointer, `the built-in plugin "${name}" is not supported yet`, {
    hint: `${known[name]} is to do its work, and is not there yet`,
  });
}
