import { injecting, type Rule, using } from './rule.ts';

/** Chapter 7: what has a better successor. */
export const deprecatedRules: readonly Rule[] = [
  ...(
    [
      ['7.1.1', 'http-server', 'virtualhost', 'the server/virtualhost component'],
      ['7.1.2', 'http-server', 'static-filesystem', 'the server/static-filesystem component'],
      ['7.1.3', 'http-server', 'basic-auth', 'the auth/basic component'],
      ['7.1.4', 'http-server', 'wildcard', 'endpoints that end in /*'],
      ['7.1.5', 'http-client', 'http-proxy', 'proxy_address of backend/http/client'],
      ['7.1.6', 'http-client', 'static-filesystem', 'the backend/static-filesystem component'],
      ['7.1.7', 'http-client', 'no-redirect', 'no_redirect of backend/http/client'],
      ['7.1.8', 'req-resp-modifier', 'content-replacer', 'the modifier/response-body-generator component'],
      ['7.1.9', 'req-resp-modifier', 'response-schema-validator', 'the validation/response-json-schema component'],
    ] as const
  ).map(
    ([id, kind, name, successor]): Rule => ({
      id,
      severity: 'HIGH',
      message: `Replace the deprecated plugin ${name} of plugin/${kind} by ${successor}.`,
      find: injecting(kind, name),
    }),
  ),
  ...(
    [
      ['7.2.1', 'telemetry/ganalytics'],
      ['7.2.2', 'telemetry/instana'],
      ['7.2.3', 'telemetry/opencensus'],
      ['7.2.4', 'telemetry/influx'],
    ] as const
  ).map(
    ([id, namespace]): Rule => ({
      id,
      severity: 'HIGH',
      message: `Replace the deprecated ${namespace} by telemetry/opentelemetry.`,
      find: using([namespace]),
    }),
  ),
  {
    id: '7.3.1',
    severity: 'MEDIUM',
    message: 'Move public_key and private_key of tls into tls.keys.',
    find: ({ config: { tls } }) =>
      (['public_key', 'private_key'] as const).filter((key) => tls?.[key] !== undefined).map((key) => `/tls/${key}`),
  },
];
