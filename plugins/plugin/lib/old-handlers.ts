/** Current names of plugins, by the name that they had in KrakenD before version 2. */
export const oldHandlers: Readonly<Record<string, string>> = {
  'krakend-basic-auth': 'basic-auth',
  'krakend-jwk-aggregator': 'jwk-aggregator',
  'krakend-redirect': 'no-redirect',
  'krakend-dumper': 'http-logger',
  'krakend-geoip': 'geoip',
  'krakend-ipfilter': 'ip-filter',
  'krakend-static-live': 'static-filesystem',
  'krakend-wildcard': 'wildcard',
};
