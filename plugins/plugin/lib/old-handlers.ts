/** Names that plugins of the compatible product had before its version 2, and the present ones. */
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
