import {
  type AtBackend,
  type BackendConfig,
  before,
  type EndpointConfig,
  type Http2Endpoint,
  type Http2Endpoints,
  joinPointer,
  nearest,
  type Site,
} from '#contract';
import type { DescMethod, GrpcCatalog } from '../../engines/grpc/catalog.ts';
import { UNIMPLEMENTED } from '../../engines/grpc/status.ts';
import type { Config, ServerConfig } from '../schema.ts';
import { codecsOf, Messages } from './messages.ts';
import { type PublishedMethod, speaking, translating } from './method.ts';
import { statusReply, wordingOf } from './status-reply.ts';

/** Default maximum length of a message, in bytes. */
const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

type MethodConfig = ServerConfig['services'][number]['methods'][number];

/** Published methods and their endpoints. */
export interface Published {
  readonly http2: Http2Endpoints;
  readonly endpoints: ReadonlySet<EndpointConfig>;
}

/**
 * Publishes the methods that the configuration names.
 * @throws ConfigError GRPC_SERVICE, GRPC_METHOD, GRPC_METHOD_TWICE
 */
export function publish(site: Site<Config>, server: ServerConfig, catalog: GrpcCatalog): Published {
  const router = site.setting('router');
  const wording = wordingOf(router, site.use('version'));
  const codecs = codecsOf(catalog);
  const maxBytes = router.max_payload || DEFAULT_MESSAGE_BYTES;
  const endpoints: Http2Endpoint[] = [];
  const places = new Map<string, string>();
  for (const [index, { name: service, methods }] of server.services.entries()) {
    const at = joinPointer('/server/services', index);
    checkService(site, catalog, service, `${at}/name`);
    for (const [position, config] of methods.entries()) {
      const pointer = joinPointer(at, 'methods', position);
      const path = `/${service}/${config.name}`;
      const method = methodOf(site, catalog, path, pointer);
      refuseSecond(site, places, path, pointer);
      const published: PublishedMethod = {
        method,
        messages: new Messages(method, codecs, { params: config.payload_params, maxElements: server.max_elements }),
        passes: passesMessages(config, method, catalog),
        several: config.backend.length > 1,
        maxBytes,
        wording,
      };
      warnOfSlips(site, config, method, pointer);
      endpoints.push({
        at: pointer,
        endpoint: endpointOf(site, config, path),
        outer: () => speaking(published),
        inner: (traits) => translating(published, traits),
      });
    }
  }
  return {
    http2: {
      contentType: 'application/grpc',
      endpoints,
      otherwise: () => statusReply(UNIMPLEMENTED, 'unknown method', wording),
    },
    endpoints: new Set(endpoints.map(({ endpoint }) => endpoint)),
  };
}

function checkService(site: Site<Config>, { paths }: GrpcCatalog, name: string, at: string): void {
  const known = [...new Set(paths.map((path) => path.split('/')[1]!))];
  if (known.includes(name)) return;
  const near = nearest(name, known);
  throw site.fault('GRPC_SERVICE', at, `the catalog has no service ${name}`, {
    hint: near ? `"name": ${JSON.stringify(near)}` : 'write the name with its package, as in "flight_finder.Flights"',
  });
}

function methodOf(site: Site<Config>, catalog: GrpcCatalog, path: string, pointer: string): DescMethod {
  const method = catalog.method(path);
  if (!method) {
    const near = nearest(path, catalog.paths)?.split('/')[2];
    throw site.fault('GRPC_METHOD', `${pointer}/name`, `the catalog has no method ${path}`, {
      ...(near !== undefined && { hint: `"name": ${JSON.stringify(near)}` }),
    });
  }
  if (method.methodKind === 'unary') return method;
  throw site.fault(
    'GRPC_METHOD',
    `${pointer}/name`,
    `${path} is a streaming method, but only unary methods can be published`,
  );
}

function refuseSecond(site: Site<Config>, places: Map<string, string>, path: string, pointer: string): void {
  const first = places.get(path);
  places.set(path, pointer);
  if (first === undefined) return;
  throw site.fault('GRPC_METHOD_TWICE', `${pointer}/name`, `${path} is published twice`, {
    related: [site.pointer + first],
  });
}

/** Warns of unknown fields in the parameters. Code: GRPC_FIELD. */
function warnOfSlips(site: Site<Config>, { payload_params: params }: MethodConfig, method: DescMethod, at: string) {
  for (const path of Object.keys(params)) {
    if (hasField(method.input, path.split('.'))) continue;
    const pointer = joinPointer(`${at}/payload_params`, path);
    site.warn('GRPC_FIELD', pointer, `${method.input.typeName} has no field ${path}: the parameter is always empty`);
  }
}

function hasField(type: DescMethod['input'], [name, ...rest]: readonly string[]): boolean {
  // Well-known types are not checked: their JSON form does not follow their fields.
  if (type.typeName.startsWith('google.protobuf.')) return true;
  const field = type.fields.find((each) => each.name === name);
  if (!field) return false;
  if (rest.length === 0 || field.fieldKind === 'map') return true;
  return field.fieldKind === 'message' && hasField(field.message, rest);
}

/** The method as an endpoint, so that everything that wraps all endpoints also wraps the method. */
function endpointOf(site: Site<Config>, config: MethodConfig, path: string): EndpointConfig {
  const { backend, extra_config } = config as unknown as EndpointConfig;
  return {
    endpoint: path,
    method: 'POST',
    backend,
    extra_config,
    input_headers: config.input_headers,
    input_query_strings: [],
    output_encoding: 'json',
    concurrent_calls: 1,
    timeout: site.setting('timeout'),
    cache_ttl: 0,
  };
}

/** Drops the message for an endpoint that calls its backend with GET or HEAD, because these methods have no body. */
export function withoutBody({ method, extra_config: components }: BackendConfig): AtBackend {
  const isOther = Object.keys(components).some((name) => name.startsWith('backend/') && name !== 'backend/http');
  if (isOther || 'workflow' in components || !/^(?:GET|HEAD)$/.test(method)) return {};
  return {
    backend: before((request) => {
      request.body = null;
      request.headers.delete('content-type');
    }),
  };
}

/** Components that do not read data, so that messages can be passed through. */
const blind: ReadonlySet<string> = new Set([
  'backend/grpc',
  'backend/http',
  'qos/circuit-breaker',
  'qos/ratelimit/proxy',
]);

/** True when the only backend takes the message as it is and responds with the message type that the client expects. */
function passesMessages({ backend: backends, payload_params }: MethodConfig, method: DescMethod, catalog: GrpcCatalog) {
  const [backend, ...others] = backends as unknown as EndpointConfig['backend'];
  if (!backend || others.length > 0 || !Object.keys(backend.extra_config).every((name) => blind.has(name)))
    return false;
  const { allow, deny, mapping, group, target, is_collection: isList } = backend;
  const shapes = [allow, deny, mapping].some((shape) => shape && Object.keys(shape).length > 0);
  if (shapes || group || target || isList) return false;
  const grpc = backend.extra_config['backend/grpc'] as Partial<Record<string, unknown>> | undefined;
  if (grpc?.['use_request_body'] !== true) return false;
  if (Object.keys(payload_params).length > 0 && grpc['disable_query_params'] !== true) return false;
  const called = catalog.method(backend.url_pattern);
  return called?.input === method.input && called.output === method.output && called.methodKind === 'unary';
}
