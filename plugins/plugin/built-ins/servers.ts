import { before, type ClientRequest, type Offer, refuse, type Site, servedSlot, type Wrap } from '#contract';
import * as geoip from './geoip/index.ts';
import * as ipFilter from './ip-filter/index.ts';
import * as jwkAggregator from './jwk-aggregator.ts';
import * as urlRewrite from './url-rewrite.ts';

/** Attachment of a built-in plugin around every request. */
export interface BuiltInServer {
  readonly wrap: Wrap<ClientRequest>;
  /** Request headers that the plugin sets. */
  readonly sets?: readonly string[];
  readonly offers?: readonly Offer[];
}

/** Schemas of the plugins' settings, by plugin name. */
export const serverSchemas = {
  geoip: geoip.schema,
  'ip-filter': ipFilter.schema,
  'jwk-aggregator': jwkAggregator.schema,
  'url-rewrite': urlRewrite.schema,
} as const;

type Settings = {
  readonly geoip: geoip.GeoipConfig;
  readonly 'ip-filter': ipFilter.IpFilterConfig;
  readonly 'jwk-aggregator': jwkAggregator.JwkAggregatorConfig;
  readonly 'url-rewrite': urlRewrite.UrlRewriteConfig;
};

type Attach<Name extends keyof Settings> = (
  site: Site<unknown>,
  settings: Settings[Name],
  pointer: string,
) => BuiltInServer;

/** @see createIpFilter @see locating @see aggregating @see rewriting */
export const serverBuiltIns: { readonly [Name in keyof Settings]: Attach<Name> } = {
  geoip: geoip.locating,
  'ip-filter': (site, settings, pointer) => {
    const admits = ipFilter.createIpFilter(site, settings, pointer);
    return {
      wrap: before((request, call) => {
        if (admits(request)) return undefined;
        call.set(servedSlot, { ...call.get(servedSlot), handledBy: 'ip-filter' });
        return refuse(403);
      }),
    };
  },
  'jwk-aggregator': jwkAggregator.aggregating,
  'url-rewrite': (site, settings, pointer) => ({ wrap: urlRewrite.rewriting(site, settings, pointer) }),
};
