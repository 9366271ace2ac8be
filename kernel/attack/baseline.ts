import type { AttackRequest } from '#contract';
import { type Baseline, writeRequest } from '../cases/index.ts';

/** Value of User-Agent: components that detect bots reject requests without one. */
export const agent = ['User-Agent', 'Mozilla/5.0 (attack)'] as const;

/** Writes the request of an endpoint without the credentials that its components require. */
export function baselineOf({ endpoint, parts }: Baseline): AttackRequest {
  const required = { headers: {}, query: {} };
  const { method, path, headers, body } = writeRequest(endpoint, { ...parts, required });
  return { method, target: path, headers: [agent, ...Object.entries(headers)], ...(body && { body }) };
}
