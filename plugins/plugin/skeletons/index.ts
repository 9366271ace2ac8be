import type { Naming, Skeleton, Skeletons } from '#contract';
import { moduleTest } from './module-test.ts';

/** Properties of one kind of module. */
interface ModuleKind {
  /** Namespace in which a configuration names the module. */
  readonly namespace: string;
  readonly level: 'service' | 'endpoint' | 'backend';
  /** First comment of the module, without the final period. */
  readonly about: string;
  /** Source of the factory, with the placeholders `SETTINGS` and `HEADER` for the settings and the header. */
  readonly factory: string;
  /** Whether the header is set on the request to the backend instead of the response. */
  readonly changesRequest?: boolean;
  /** Whether the configuration takes a single name instead of a list. */
  readonly single?: boolean;
}

const places = { service: 'at the root', endpoint: 'in an endpoint', backend: 'in a backend' } as const;

const middleware: ModuleKind = {
  namespace: 'plugin/middleware',
  level: 'endpoint',
  about: 'Runs around the backends of an endpoint, or around one backend',
  factory: `  middleware: (config, host) => {
    host.logger.debug(\`sets HEADER to \${config.value}\`);
    return async (context, request, next) => {
      const response = await next(request);
      response.headers['HEADER'] = [config.value];
      return response;
    };
  },`,
};

const requestModifier: ModuleKind = {
  namespace: 'plugin/req-resp-modifier',
  level: 'backend',
  about: 'Changes the requests of an endpoint or of a backend',
  factory: `  requestModifier: (config) => (request, context) => {
    request.headers['HEADER'] = [SETTINGS.value];
  },`,
  changesRequest: true,
};

const responseModifier: ModuleKind = {
  namespace: 'plugin/req-resp-modifier',
  level: 'endpoint',
  about: 'Changes the responses of an endpoint or of a backend',
  factory: `  responseModifier: (config, host) => ({
    modify(response, context) {
      response.headers['HEADER'] = [SETTINGS.value];
    },
    onError(failure, context) {
      host.logger.warning(\`request \${context.requestId} failed: \${failure.message}\`);
    },
  }),`,
};

const httpClient: ModuleKind = {
  namespace: 'plugin/http-client',
  level: 'backend',
  about: "Calls a backend in place of the gateway's HTTP client",
  factory: `  httpClient: (config, host) => async (request, context) => {
    request.headers.set('HEADER', SETTINGS.value);
    return host.defaultClient(request);
  },`,
  changesRequest: true,
  single: true,
};

const httpServer: ModuleKind = {
  namespace: 'plugin/http-server',
  level: 'service',
  about: 'Runs around the handling of every request',
  factory: `  httpServer: (config, host) => async (request, next) => {
    const response = await next(request);
    response.headers.set('HEADER', SETTINGS.value);
    return response;
  },`,
};

/** Skeletons of modules in the form of KrakenD's extension points; `module` creates one with a middleware. */
export const skeletons: Skeletons = {
  module: skeletonOf(middleware),
  middleware: skeletonOf(middleware),
  'request-modifier': skeletonOf(requestModifier),
  'response-modifier': skeletonOf(responseModifier),
  'http-client': skeletonOf(httpClient),
  'http-server': skeletonOf(httpServer),
};

function skeletonOf(kind: ModuleKind): Skeleton {
  const { namespace, level, single = false, changesRequest = false } = kind;
  const extraConfig = ({ name }: Naming) =>
    `"extra_config": { "${namespace}": { "name": ${single ? `"${name}"` : `["${name}"]`}, "${name}": { "value": "hello" } } }`;
  return {
    plugin: (naming) => textOf(kind, naming),
    test: (naming) => moduleTest(naming, { level, changesRequest, extraConfig: extraConfig(naming) }),
    usage: (naming) => `${places[level]}: ${extraConfig(naming)}`,
    ...(kind !== httpServer && { canBeIsolated: true }),
  };
}

function textOf({ about, factory }: ModuleKind, { name, header, isolated }: Naming): string {
  return `import type { PluginModule } from 'sluice/plugin';

/** Settings below "${name}" in a configuration, validated by \`configSchema\`. */
interface Settings {
  readonly value: string;
}

/** ${about}${isolated ? ', in a thread of its own' : ''}. */
export const plugin = {
  name: '${name}',
  apiVersion: 1,${isolated ? '\n  isolate: true,' : ''}
  configSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['value'],
    properties: { value: { type: 'string', minLength: 1, description: 'Value of ${header}.' } },
  },
${factory.replaceAll('HEADER', header).replaceAll('SETTINGS', `config['${name}']`)}
} satisfies PluginModule<Settings, '${name}'>;
`;
}
