import { type AtService, atService, definePlugin, offer, type Site } from '#contract';
import { type GrpcCatalog, grpcCatalog, pathOf } from '../engines/grpc/catalog.ts';
import { telemetrySwitches } from '../shared/ports/telemetry-switches.ts';
import { readCatalog } from './catalog-files.ts';
import { setsOfSources } from './compile-sources.ts';
import { CatalogError, linkSets } from './descriptor-sets.ts';
import { type Config, schema } from './schema.ts';
import { publish, withoutBody } from './server/publish.ts';

/**
 * Loads the services and messages described by descriptor sets, for backends that use gRPC, and publishes services on
 * the gateway's port.
 *
 * Configuration errors: `GRPC_CATALOG_INVALID`, `GRPC_CATALOG_IMPORT`, `GRPC_CATALOG_FILES`, `GRPC_CATALOG_SOURCE`,
 * `FILE_UNREADABLE`, those of `publish`; warnings `GRPC_CATALOG_TWICE`, `GRPC_CATALOG_SOURCE`, `GRPC_FIELD`.
 */
export const plugin = definePlugin({
  name: 'grpc',
  description: 'Loads descriptors of gRPC services, and publishes selected methods to gRPC clients.',
  independent: true,
  offers: [grpcCatalog, telemetrySwitches],
  places: [atService(schema, attach)],
});

function attach(site: Site<Config>): AtService {
  const catalog = openCatalog(site);
  const offers = [offer(grpcCatalog, catalog)];
  const { server } = site.config;
  if (!server) return { offers };
  const { http2, endpoints } = publish(site, server, catalog);
  const { disable_metrics: disablesMetrics, disable_traces: disablesTraces } = server.opentelemetry;
  const switches = { metrics: !disablesMetrics, traces: !disablesTraces };
  return {
    http2,
    eachBackend: ({ endpoint, backend }) => (endpoints.has(endpoint) ? withoutBody(backend) : {}),
    offers: [...offers, offer(telemetrySwitches, (endpoint) => (endpoints.has(endpoint) ? switches : undefined))],
  };
}

/** @throws ConfigError */
function openCatalog(site: Site<Config>): GrpcCatalog {
  const content = readCatalog(site, site.config.catalog);
  try {
    const sets = [...content.files, ...setsOfSources(site, content)];
    const registry = linkSets(sets, (message) => site.warn('GRPC_CATALOG_TWICE', '/catalog', message));
    const services = [...registry].filter((type) => type.kind === 'service');
    const methods = new Map(services.flatMap(({ methods }) => methods.map((method) => [pathOf(method), method])));
    return { registry, method: (path) => methods.get(path), paths: [...methods.keys()] };
  } catch (error) {
    if (error instanceof CatalogError) throw site.fault(error.code, '/catalog', error.message, { cause: error });
    throw error;
  }
}
