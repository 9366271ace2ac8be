import type { AttackedEndpoint, AttackRequest } from '#contract';
import { ANY } from '../contract/internal.ts';

/** Methods whose requests have a body. */
const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);

/** Components that detect bots reject requests without a user agent. */
export const agent = ['User-Agent', 'Mozilla/5.0 (attack)'] as const;

/** Builds a request to an endpoint, with a value for every placeholder of its path. */
export function baselineOf({ config }: AttackedEndpoint): AttackRequest {
  const { endpoint } = config;
  const method = config.method === ANY ? 'GET' : config.method;
  const target =
    endpoint === '/__catchall' ? '/unknown/path' : endpoint.replaceAll(/\{[^}]*\}/g, '1').replace(/\*$/, 'file');
  if (!withBody.has(method)) return { method, target, headers: [agent] };
  return { method, target, headers: [agent, ['Content-Type', 'application/json']], body: '{"id":1}' };
}
