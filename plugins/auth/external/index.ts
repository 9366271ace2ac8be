import { atEndpoint, definePlugin, type EndpointSite, httpSigners, isHeaderName, meters, offer } from '#contract';
import { isLocal } from '../../shared/calls/local-url.ts';
import { ANY_HEADER, personalHeaders } from '../../shared/http-headers/personal.ts';
import { Admission } from './admission.ts';
import { type Decide, isChangeable } from './decision.ts';
import { grpcDecider } from './grpc.ts';
import { httpDecider } from './http.ts';
import { type ExternalConfig, schema } from './schema.ts';

/**
 * Asks a server about each request, and rejects those that it does not accept, with its response.
 *
 * Configuration faults: `EXTERNAL_URL`, `EXTERNAL_HEADER`, `EXTERNAL_CACHE`, `EXTERNAL_FIELD`; warning
 * `EXTERNAL_INSECURE`. Error of a call: `EXTERNAL_FAILED`.
 */
export const plugin = definePlugin({
  name: 'auth/external',
  description: 'Lets an external server decide on each request (forward authentication, ext_authz).',
  guards: true,
  leaves: ['data'],
  offers: [personalHeaders],
  takes: [httpSigners, meters],
  places: [
    atEndpoint(schema, (site) => {
      const isGrpc = /^grpcs?:/i.test(site.config.url);
      checkFields(site, isGrpc);
      const { endpoint, proxy } = new Admission(site, isGrpc ? grpcOf(site) : httpOf(site));
      const { response_headers: sets } = site.config;
      const named = isGrpc ? [ANY_HEADER] : sets;
      return { endpoint, proxy, sets, offers: named.length > 0 ? [offer(personalHeaders, named)] : [] };
    }),
  ],
});

function grpcOf(site: EndpointSite<ExternalConfig>): Decide {
  const isSecure = /^grpcs:/i.test(site.config.url);
  if (!isSecure) warnOfPlaintext(site, URL.parse(site.config.url.replace(/^grpc:/i, 'http:')));
  return grpcDecider(site, isSecure);
}

function httpOf(site: EndpointSite<ExternalConfig>): Decide {
  const url = URL.parse(site.config.url);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw site.fault('EXTERNAL_URL', '/url', 'url is not an http, https, grpc or grpcs URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw site.fault('EXTERNAL_URL', '/url', 'url contains a user name or password');
  }
  if (url.protocol === 'http:') warnOfPlaintext(site, url);
  return httpDecider(site, url);
}

function warnOfPlaintext(site: EndpointSite<ExternalConfig>, url: URL | null): void {
  if (url && isLocal(url)) return;
  site.warn('EXTERNAL_INSECURE', '/url', 'credentials of clients are sent without TLS', {
    hint: 'https:// or grpcs://',
  });
}

function checkFields(site: EndpointSite<ExternalConfig>, isGrpc: boolean): void {
  const { config } = site;
  for (const field of ['request_headers', 'response_headers', 'client_headers', 'cache_headers'] as const) {
    const index = config[field].findIndex((name) => !isAllowed(field, name));
    if (index >= 0) {
      const name = config[field][index];
      throw site.fault('EXTERNAL_HEADER', `/${field}/${index}`, `the header name "${name}" cannot be used here`);
    }
  }
  const unused = (field: string, reason: string) =>
    site.fault('EXTERNAL_FIELD', `/${field}`, `${field} has no effect ${reason}`);
  if (isGrpc && config.client_headers.length > 0) throw unused('client_headers', 'with gRPC');
  if (!isGrpc && Object.keys(config.context_extensions).length > 0) throw unused('context_extensions', 'with HTTP');
  if (config.cache_ttl === 0 && config.cache_headers.length > 0) throw unused('cache_headers', 'without cache_ttl');
  if (config.cache_ttl > 0 && config.cache_headers.length === 0) {
    throw site.fault('EXTERNAL_CACHE', '/cache_ttl', 'cached decisions would apply to other clients as well', {
      hint: 'set "cache_headers" to the headers that identify a client, such as ["Authorization"]',
    });
  }
  if (config.cache_ttl > 0 && config.forward_body) {
    throw site.fault('EXTERNAL_CACHE', '/cache_ttl', 'decisions on bodies cannot be cached', {
      hint: 'remove cache_ttl or forward_body',
    });
  }
}

function isAllowed(field: string, name: string): boolean {
  if (field === 'request_headers') return name === '*' || isHeaderName(name);
  return field === 'cache_headers' ? isHeaderName(name) : isChangeable(name.toLowerCase());
}
