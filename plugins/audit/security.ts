import { type AuditedComponent, type AuditRule, type AuditSubject, isObject } from '#contract';
import { endpointsWhere, has, isCatchall, lacking, setting, using } from './find.ts';

const insecure = 'allow_insecure_connections';

/** Audit rules of chapter 2: unnecessary exposure. */
export const securityRules: readonly AuditRule[] = [
  {
    id: '2.1.1',
    severity: 'HIGH',
    message:
      'Remove allow_insecure_connections and list the certificate authorities of your backends in client_tls.ca_certs.',
    find: ({ config }) => [
      ...(config.allow_insecure_connections ? [`/${insecure}`] : []),
      // If the file contains only the old field, that field also sets the new one, so only the written field is
      // reported.
      ...(config.client_tls?.[insecure] && !config.allow_insecure_connections ? [`/client_tls/${insecure}`] : []),
    ],
  },
  {
    id: '2.1.2',
    severity: 'HIGH',
    message: 'Add a tls section, or make sure that a proxy in front terminates TLS.',
    isNote: true,
    find: lacking('', ({ config }) => config.tls !== undefined),
  },
  {
    id: '2.1.3',
    severity: 'CRITICAL',
    message: 'Remove tls.disabled: the port serves plain HTTP although TLS is configured.',
    find: setting('/tls/disabled', ({ config }) => config.tls?.disabled === true),
  },
  {
    id: '2.1.7',
    severity: 'HIGH',
    message:
      'Add security/http to the service and set at least one of its headers, such as "content_type_nosniff": true.',
    recommends: ['security/http'],
    find: lacking('/extra_config', (summary) => using(['security/http'], ['service'], setsHeaders)(summary).length > 0),
  },
  {
    id: '2.1.8',
    severity: 'HIGH',
    message: 'Remove use_h2c: clear-text HTTP/2 can be read and modified in transit.',
    find: h2c,
  },
  {
    id: '2.1.9',
    severity: 'LOW',
    message:
      'Remove allow_insecure_connections from the backend and list its certificate authority in client_tls.ca_certs.',
    find: (summary) =>
      using(['backend/http/client'], ['backend'], ({ settings: { client_tls: tls } }) => {
        return isObject(tls) && tls[insecure] === true;
      })(summary).map((pointer) => `${pointer}/client_tls/${insecure}`),
  },
  {
    id: '2.2.1',
    severity: 'MEDIUM',
    message: 'Set router.hide_version_header, so that responses do not disclose the version.',
    find: lacking('/extra_config/router/hide_version_header', ({ config }) => config.router.hide_version_header),
  },
  {
    id: '2.2.2',
    severity: 'HIGH',
    message: 'Add security/cors to define which sites can call the API from a browser.',
    recommends: ['security/cors'],
    find: lacking('/extra_config', has(['security/cors'])),
  },
  {
    id: '2.2.3',
    severity: 'HIGH',
    message: 'List the headers that backends require in input_headers instead of "*".',
    find: endpointsWhere((endpoint) => !isCatchall(endpoint) && endpoint.input_headers.includes('*'), 'input_headers'),
  },
  {
    id: '2.2.4',
    severity: 'HIGH',
    message: 'List the parameters that backends require in input_query_strings instead of "*".',
    find: endpointsWhere(
      (endpoint) => !isCatchall(endpoint) && endpoint.input_query_strings.includes('*'),
      'input_query_strings',
    ),
  },
  {
    id: '2.2.5',
    severity: 'LOW',
    message: 'Declare the services of the gRPC server, or remove the server.',
    find: (summary) =>
      using(['grpc'], ['service'], ({ settings: { server } }) => {
        return isObject(server) && [server['services'] ?? []].flat().length === 0;
      })(summary).map((pointer) => `${pointer}/server`),
  },
  {
    id: '2.3.1',
    severity: 'MEDIUM',
    message: 'Set both max_items and max_size of qos/http-cache, so that the cache cannot fill the memory.',
    find: using(['qos/http-cache'], ['backend'], ({ settings }) => {
      return settings['max_items'] === undefined || settings['max_size'] === undefined;
    }),
  },
];

/** Fields of security/http that set a header for browsers, other than `sts_seconds`. */
const headerFields = [
  'frame_deny',
  'custom_frame_options_value',
  'content_type_nosniff',
  'browser_xss_filter',
  'content_security_policy',
  'referrer_policy',
];

/**
 * Whether the settings send any header: an empty section sends none, and in development Strict-Transport-Security is
 * not sent either.
 */
function setsHeaders({ settings }: AuditedComponent): boolean {
  const sts = Boolean(settings['sts_seconds']) && settings['is_development'] !== true;
  return sts || headerFields.some((field) => Boolean(settings[field]));
}

/** The old field also sets the new one, so only the field that the file contains is reported. */
function h2c({ config }: AuditSubject): string[] {
  if (config.router.use_h2c) return ['/extra_config/router/use_h2c'];
  return config.use_h2c ? ['/use_h2c'] : [];
}
