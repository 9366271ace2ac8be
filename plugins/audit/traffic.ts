import type { AuditRule, Severity } from '#contract';
import { endpointsWhere, has, injecting, lacking } from './find.ts';

/** Audit rules of chapter 3: limits on load and latency. */
export const trafficRules: readonly AuditRule[] = [
  {
    id: '3.1.1',
    severity: 'LOW',
    message: 'Add security/bot-detector to the service to reject unwanted crawlers.',
    recommends: ['security/bot-detector'],
    find: lacking('/extra_config', has(['security/bot-detector'], ['service'])),
  },
  {
    id: '3.1.2',
    severity: 'HIGH',
    message: 'Add a rate limit, such as qos/ratelimit/router on the endpoints.',
    recommends: ['qos/ratelimit/router'],
    find: lacking(
      '/endpoints',
      (summary) =>
        summary.components.some(({ namespace }) => namespace.startsWith('qos/ratelimit/')) ||
        injecting('http-server', 'redis-ratelimit')(summary).length > 0,
    ),
  },
  {
    id: '3.1.3',
    severity: 'HIGH',
    message: 'Add qos/circuit-breaker to the backends, so that a failing backend is not called.',
    recommends: ['qos/circuit-breaker'],
    find: lacking('/endpoints', has(['qos/circuit-breaker', 'qos/circuit-breaker/http'])),
  },
  slowerThan('3.3.1', 'LOW', 3, ['3.3.2', '3.3.3', '3.3.4']),
  slowerThan('3.3.2', 'MEDIUM', 5, ['3.3.3', '3.3.4']),
  slowerThan('3.3.3', 'HIGH', 30, ['3.3.4']),
  slowerThan('3.3.4', 'CRITICAL', 60, []),
];

function slowerThan(id: string, severity: Severity, seconds: number, yieldsTo: readonly string[]): AuditRule {
  return {
    id,
    severity,
    message: `Lower timeouts to ${seconds}s or less: slow backends hold connections and memory.`,
    yieldsTo,
    find: endpointsWhere(({ timeout }) => timeout > seconds * 1000, 'timeout'),
  };
}
