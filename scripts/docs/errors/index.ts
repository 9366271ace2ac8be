import { authErrors, securityErrors } from './access.ts';
import type { Codes } from './codes.ts';
import { fileErrors, schemaErrors } from './configuration.ts';
import { limitErrors } from './limits.ts';
import { aiErrors } from './models.ts';
import { promptErrors } from './prompts.ts';
import { protocolErrors, queueErrors, telemetryErrors } from './protocols.ts';
import { routeErrors, serverErrors } from './routes.ts';
import { changeErrors, requestErrors } from './running.ts';
import { secretErrors } from './secrets.ts';
import { testingErrors } from './testing.ts';
import { modifierErrors, pluginErrors } from './transformation.ts';

/** All error codes, by area. */
export const errorAreas: Readonly<Record<string, Codes>> = {
  'Configuration file': fileErrors,
  'Schema and namespaces': schemaErrors,
  'Endpoints and backends': routeErrors,
  'Ports, proxies and TLS': serverErrors,
  'Changes, checks and workers': changeErrors,
  'Requests and backends': requestErrors,
  Authentication: authErrors,
  'Security and policies': securityErrors,
  'Limits, quotas and caches': limitErrors,
  'Modifiers and validation': modifierErrors,
  Plugins: pluginErrors,
  'gRPC, GraphQL, Lambda, WebSockets and OpenAPI': protocolErrors,
  'Queues and agents': queueErrors,
  'Models and tools': { ...aiErrors, ...promptErrors },
  Telemetry: telemetryErrors,
  'Stores of secrets': secretErrors,
  'Tests of configurations': testingErrors,
};

/** The page of all error codes. */
export function errorsPage(): string {
  const segments = [
    '# Error codes',
    [
      'Each error and warning has a code, which stays the same when its message changes. `sluice check`, the responses of the',
      '[admin API](admin/api.md) and the log print it with a JSON pointer to the value, a message and a hint.',
    ].join('\n'),
    ...Object.entries(errorAreas).flatMap(([area, codes]) => [
      `## ${area}`,
      ...Object.entries(codes)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([code, [cause, remedy]]) => `### ${code}\n\n${cause}\n\n**Remedy**: ${remedy}`),
    ]),
  ];
  return `${segments.join('\n\n')}\n`;
}
