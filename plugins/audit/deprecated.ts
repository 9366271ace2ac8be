import type { AuditRule } from '#contract';
import { using, writtenInjecting } from './find.ts';

/** Audit rules of chapter 7: deprecated settings and components. */
export const deprecatedRules: readonly AuditRule[] = [
  ...(
    [
      ['7.1.1', 'http-server', 'virtualhost', 'server/virtualhost'],
      ['7.1.2', 'http-server', 'static-filesystem', 'server/static-filesystem'],
      ['7.1.3', 'http-server', 'basic-auth', 'auth/basic'],
      ['7.1.4', 'http-server', 'wildcard', null, 'endpoints that end in /*'],
      ['7.1.5', 'http-client', 'http-proxy', 'backend/http/client', 'proxy_address of backend/http/client'],
      ['7.1.6', 'http-client', 'static-filesystem', 'backend/static-filesystem'],
      ['7.1.7', 'http-client', 'no-redirect', 'backend/http/client', 'no_redirect of backend/http/client'],
      ['7.1.8', 'req-resp-modifier', 'content-replacer', 'modifier/response-body-generator'],
      ['7.1.9', 'req-resp-modifier', 'response-schema-validator', 'validation/response-json-schema'],
    ] as const
  ).map(
    ([id, kind, name, successor, named = `the ${successor} component`]): AuditRule => ({
      id,
      severity: 'HIGH',
      message: `Replace the deprecated plugin ${name} of plugin/${kind} by ${named}.`,
      ...(successor && { recommends: [successor] }),
      ...writtenInjecting(kind, name),
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
    ([id, namespace]): AuditRule => ({
      id,
      severity: 'HIGH',
      message: `Replace the deprecated ${namespace} by telemetry/opentelemetry.`,
      recommends: ['telemetry/opentelemetry'],
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
