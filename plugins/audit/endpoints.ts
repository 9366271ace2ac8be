import {
  type AuditedSection,
  type AuditRule,
  type BackendConfig,
  type DataObject,
  type EndpointConfig,
  isObject,
} from '#contract';
import { endpointsWhere, isCatchall, lacking, setting } from './find.ts';

const SEQUENTIAL = 'extra_config/proxy/sequential';

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY']);

/** Audit rules of chapters 5 and 6: design of endpoints and agents. */
export const endpointRules: readonly AuditRule[] = [
  {
    id: '5.1.1',
    severity: 'LOW',
    message: 'Remove disable_rest and use placeholders for whole path segments only.',
    find: setting('/disable_rest', ({ config }) => config.disable_rest),
  },
  {
    id: '5.1.2',
    severity: 'LOW',
    message: 'Remove debug_endpoint in production.',
    find: setting('/debug_endpoint', ({ config }) => config.debug_endpoint),
  },
  {
    id: '5.1.3',
    severity: 'LOW',
    message: 'Remove echo_endpoint in production: it returns all headers that backends receive.',
    find: setting('/echo_endpoint', ({ config }) => config.echo_endpoint),
  },
  {
    id: '5.1.4',
    severity: 'LOW',
    message: 'Declare the paths below the wildcard, so that only known ones reach the backend.',
    find: endpointsWhere(({ endpoint }) => endpoint.endsWith('*'), 'endpoint'),
  },
  {
    id: '5.1.5',
    severity: 'MEDIUM',
    message: 'Remove /__catchall and declare the served paths: it forwards everything to the backend.',
    find: endpointsWhere(isCatchall, 'endpoint'),
  },
  {
    id: '5.1.6',
    severity: 'MEDIUM',
    message: 'Write to one backend per endpoint: several writes cannot be undone together.',
    find: endpointsWhere(({ backend = [] }) => backend.filter(writes).length > 1, 'backend'),
  },
  {
    id: '5.1.7',
    severity: 'MEDIUM',
    message: 'Call backends in parallel if they do not depend on each other: sequential calls add up their durations.',
    find: ({ endpoints, agents }) =>
      [...endpoints, ...agents].filter(isNeedlessSequence).map(({ pointer }) => `${pointer}/${SEQUENTIAL}`),
  },
  {
    id: '5.2.1',
    severity: 'CRITICAL',
    message: 'Give the endpoint a backend, or remove it.',
    find: endpointsWhere(({ backend = [] }) => backend.length === 0),
  },
  {
    id: '5.2.2',
    severity: 'LOW',
    message: 'Merge the responses of several backends in endpoints, so that clients make fewer calls.',
    // Endpoints with no-op are skipped, because they can have only one backend.
    yieldsTo: ['5.2.3'],
    find: lacking('/endpoints', ({ endpoints }) =>
      endpoints.some(({ config: { backend = [] } }) => backend.length > 1),
    ),
  },
  {
    id: '5.2.3',
    severity: 'LOW',
    message:
      'Use an output_encoding that decodes for some endpoints: with no-op only, the gateway does nothing but forward.',
    find: setting(
      '/endpoints',
      ({ endpoints }) => endpoints.length > 0 && endpoints.every(({ config }) => config.output_encoding === 'no-op'),
    ),
  },
  {
    id: '6.1.1',
    severity: 'LOW',
    message: 'Remove sequential_start: starting 10 or more agents one after another is slow.',
    find: setting('/sequential_start', ({ root, agents }) => root['sequential_start'] === true && agents.length >= 10),
  },
];

/** A gRPC call counts as writing, because it may have side effects. */
function writes({ method = 'GET', extra_config: components = {} }: Partial<BackendConfig>): boolean {
  return !safeMethods.has(method) || Object.hasOwn(components, 'backend/grpc');
}

/**
 * Returns whether a sequence could run in parallel: no call uses an earlier response and none writes, so that none
 * depends on the success of earlier ones.
 */
function isNeedlessSequence({ config }: AuditedSection<EndpointConfig | DataObject>): boolean {
  const { extra_config: components, backend } = config as Partial<EndpointConfig>;
  const options = components?.['proxy'];
  if (!isObject(options) || options['sequential'] !== true || !Array.isArray(backend)) return false;
  const isPropagating = [options['sequential_propagated_params'] ?? []].flat().length > 0;
  return !isPropagating && !backend.some(writes) && !/\{resp\d+_/.test(JSON.stringify(backend));
}
