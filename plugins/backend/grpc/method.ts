import { type BackendSite, nearest } from '#contract';
import { type DescMethod, type GrpcCatalog, grpcCatalog } from '../../engines/grpc/catalog.ts';
import type { Config } from './schema.ts';

/**
 * Resolves the method named by a backend's path; null if the catalog is invalid, which is reported there.
 * @throws ConfigError GRPC_CATALOG, GRPC_METHOD
 */
export function methodAt(
  site: BackendSite<Config>,
): { readonly method: DescMethod; readonly catalog: GrpcCatalog } | null {
  const catalog = site.take(grpcCatalog);
  if (!catalog) {
    if (Object.hasOwn(site.setting('extra_config'), 'grpc')) return null;
    throw site.fault('GRPC_CATALOG', '', 'backend/grpc needs message descriptors: add a "grpc" catalog at the root', {
      hint: 'add "grpc": {"catalog": ["./services.pb"]} to the extra_config of the service',
    });
  }
  const { url_pattern: path } = site.backend;
  const method = catalog.method(path);
  if (!method) {
    const near = nearest(path, catalog.paths);
    throw site.fault('GRPC_METHOD', '', `the catalog has no method ${path}`, {
      hint: near ? `"url_pattern": ${JSON.stringify(near)}` : '"url_pattern": "/package.Service/Method"',
    });
  }
  const { methodKind } = method;
  if (methodKind !== 'unary' && methodKind !== 'server_streaming') {
    throw site.fault('GRPC_METHOD', '', `${path} requires a stream of messages, but a request is a single message`);
  }
  return { method, catalog };
}
