import { type BackendConfig, type EndpointConfig, inheritsMethod, type ServiceConfig } from '#contract';
import { ANY, PASSING } from '../../contract/internal.ts';
import type { Report } from '../issues/report.ts';
import { CATCHALL, routeName } from '../rules/rule.ts';
import { cleanHost, hostHint, shownHost } from './hosts.ts';
import { isRaw, type KnownPlugins } from './known-plugins.ts';

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** Default timeout of a pipe, in milliseconds, if neither endpoint nor service sets one. */
const DEFAULT_TIMEOUT_MS = 2000;
const DEFAULT_PORT = 8080;
/** Default interval between lookups of discovered hosts, in milliseconds. */
const DEFAULT_DNS_CACHE_MS = 30_000;

/** Fills in service defaults. Modifies the configuration. */
export function completeService(service: Draft<ServiceConfig>, options: { port?: number; debug?: boolean }): void {
  service.port = options.port ?? service.port ?? DEFAULT_PORT;
  if (options.debug) service.debug_endpoint = true;
  service.timeout ||= DEFAULT_TIMEOUT_MS;
  service.dns_cache_ttl ||= DEFAULT_DNS_CACHE_MS;
}

/** Sources of an endpoint's inherited values. */
interface AroundEndpoint {
  readonly service: ServiceConfig;
  readonly known: KnownPlugins;
  readonly clean: HostCleaner;
}

/**
 * Fills in the values that an endpoint and its backends inherit from the service. A duration of zero counts as unset.
 * Modifies the endpoint.
 *
 * Codes: HOST_INVALID; a warning ROUTE_CATCHALL_FORCED.
 */
export function completeEndpoint(
  endpoint: Draft<EndpointConfig>,
  pointer: string,
  { service, known, clean }: AroundEndpoint,
  report: Report,
): void {
  endpoint.timeout ||= service.timeout;
  endpoint.cache_ttl ||= service.cache_ttl;
  if (endpoint.endpoint === CATCHALL) forceCatchall(endpoint, pointer, report);
  endpoint.output_encoding ??= service.output_encoding;
  // In an endpoint for all methods, backends without a method use the method of the client.
  const isOpen = endpoint.endpoint === CATCHALL || endpoint.method === ANY;
  shareNothing(endpoint);
  endpoint.backend.forEach((backend: Draft<BackendConfig>, index) => {
    shareNothing(backend);
    if (backend.method === undefined) Object.defineProperty(backend, inheritsMethod, { value: true });
    backend.method ??= isOpen ? '' : endpoint.method;
    if (backend.timeout === 0) delete backend.timeout;
    if (!backend.url_pattern.startsWith('/')) backend.url_pattern = `/${backend.url_pattern}`;
    // An unknown encoding is kept: it is an error even if it has no effect.
    if (isRaw(endpoint.output_encoding, known) && known.encoding(backend.encoding)) {
      backend.encoding = endpoint.output_encoding;
    }
    if (backend.host === undefined || backend.host.length === 0) backend.host = service.host;
    else if (!backend.disable_host_sanitize) {
      backend.host = clean(asHttp(backend, known), `${pointer}/backend/${index}/host`);
    }
  });
}

const noNames: readonly string[] = Object.freeze([]);
const noComponents = Object.freeze({});

/**
 * Lets endpoints and backends share empty objects: most of them name no headers, parameters or components, and there
 * may be thousands.
 */
function shareNothing(
  holder: Pick<Draft<BackendConfig>, 'input_headers' | 'input_query_strings' | 'extra_config'>,
): void {
  if (holder.input_headers.length === 0) holder.input_headers = noNames;
  if (holder.input_query_strings.length === 0) holder.input_query_strings = noNames;
  for (const _name in holder.extra_config) return;
  holder.extra_config = noComponents;
}

/** Hosts of a backend, with component-specific schemes replaced by HTTP schemes. */
function asHttp(
  { host: hosts, extra_config: components }: Draft<BackendConfig>,
  known: KnownPlugins,
): readonly string[] {
  const speaker = Object.keys(components).find((name) => known.plugin(name)?.schemes);
  if (speaker === undefined) return hosts;
  const schemes = known.plugin(speaker)!.schemes!;
  return hosts.map((host) => {
    const [, scheme = '', rest] = /^([a-z][\w+.-]*):\/\/(.*)$/is.exec(host) ?? [];
    const name = scheme.toLowerCase();
    return Object.hasOwn(schemes, name) ? `${schemes[name]}://${rest}` : host;
  });
}

/** Sanitizes a list of base URLs and reports the invalid ones. */
export type HostCleaner = (hosts: readonly string[], pointer: string) => readonly string[];

/** Caches results: the same few hosts occur in thousands of backends. */
export function createHostCleaner(report: Report): HostCleaner {
  const known = new Map<string, string | undefined>();
  return (hosts, pointer) =>
    hosts.map((host, index) => {
      let cleaned = known.get(host);
      if (cleaned === undefined && !known.has(host)) {
        cleaned = cleanHost(host);
        known.set(host, cleaned);
      }
      if (cleaned !== undefined || host === '') return cleaned ?? host;
      report.error('HOST_INVALID', `${pointer}/${index}`, `host ${shownHost(host)} not valid: invalid host`, {
        hint: hostHint(host),
      });
      return host;
    });
}

/** The catch-all endpoint always passes everything through, regardless of its settings. */
function forceCatchall(endpoint: Draft<EndpointConfig>, pointer: string, report: Report): void {
  const force = (field: string, isConfigured: boolean, value: string) => {
    if (!isConfigured) return;
    const message = `${routeName(endpoint)} always uses ${field} ${value}: the configured value is replaced`;
    report.warn('ROUTE_CATCHALL_FORCED', `${pointer}/${field}`, message);
  };
  const isOther = (names: readonly string[]) => names.length > 0 && !(names.length === 1 && names[0] === '*');
  const output = endpoint.output_encoding as string | undefined;
  force('output_encoding', output !== undefined && output !== PASSING, JSON.stringify(PASSING));
  force('input_headers', isOther(endpoint.input_headers), '["*"]');
  force('input_query_strings', isOther(endpoint.input_query_strings), '["*"]');
  endpoint.output_encoding = PASSING;
  endpoint.input_headers = ['*'];
  endpoint.input_query_strings = ['*'];
}
