import { type AtService, atService, definePlugin, offer, type Site } from '#contract';
import { type GrpcCatalog, grpcCatalog, pathOf } from '../services/grpc/catalog.ts';
import { readCatalog } from './catalog-files.ts';
import { CatalogError, linkSets } from './descriptor-sets.ts';
import { type Config, schema } from './schema.ts';

/**
 * Knows the services and messages that descriptor sets describe, for backends that speak gRPC.
 *
 * Faults of the configuration: `GRPC_CATALOG_INVALID`, `GRPC_CATALOG_IMPORT`, `GRPC_CATALOG_FILES`, `GRPC_CATALOG_SOURCE`,
 * `FILE_UNREADABLE`; a warning `GRPC_CATALOG_TWICE`.
 */
export const plugin = definePlugin({
  name: 'grpc',
  description: 'Knows gRPC services by their descriptors.',
  offers: [grpcCatalog],
  places: [atService(schema, attach)],
});

function attach(site: Site<Config>): AtService {
  return { offers: [offer(grpcCatalog, openCatalog(site))] };
}

/** @throws ConfigError */
function openCatalog(site: Site<Config>): GrpcCatalog {
  const files = readCatalog(site, site.config.catalog);
  try {
    const registry = linkSets(files, (message) => site.warn('GRPC_CATALOG_TWICE', '/catalog', message));
    const services = [...registry].filter((type) => type.kind === 'service');
    const methods = new Map(services.flatMap(({ methods }) => methods.map((method) => [pathOf(method), method])));
    return { registry, method: (path) => methods.get(path), paths: [...methods.keys()] };
  } catch (error) {
    if (error instanceof CatalogError) throw site.fault(error.code, '/catalog', error.message, { cause: error });
    throw error;
  }
}
