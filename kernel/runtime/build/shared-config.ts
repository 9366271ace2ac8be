import type { EndpointConfig, ServiceConfig } from '#contract';
import { isSameData } from '../../config/index.ts';
import { scheduler } from '../../contract/internal.ts';
import { endpointId } from '../prints/endpoint-prints.ts';

/**
 * Copies a configuration, replacing every unchanged part with that of the previous one: unchanged parts are then in
 * memory only once, and can be found by comparing identities. Works in short slices.
 */
export async function shareWith(before: ServiceConfig, config: ServiceConfig): Promise<ServiceConfig> {
  const shared: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(config)) {
    const known = before[field as keyof ServiceConfig];
    shared[field] = field !== 'endpoints' && isSameData(known, value) ? known : value;
  }
  const endpoints: EndpointConfig[] = [];
  let byId: ReadonlyMap<string, EndpointConfig> | null = null;
  for (const [index, endpoint] of config.endpoints.entries()) {
    let known = before.endpoints[index];
    if (!known || endpointId(known) !== endpointId(endpoint)) {
      byId ??= new Map(before.endpoints.map((each) => [endpointId(each), each]));
      known = byId.get(endpointId(endpoint));
    }
    endpoints.push(known && isSameData(known, endpoint) ? known : endpoint);
    if (scheduler.due) await scheduler.yield();
  }
  shared['endpoints'] = Object.freeze(endpoints);
  return Object.freeze(shared) as unknown as ServiceConfig;
}

/** True if two configurations, the later one shared with the earlier, differ only in their endpoints. */
export function isSameService(before: ServiceConfig, config: ServiceConfig): boolean {
  const fields = Object.keys(config) as (keyof ServiceConfig)[];
  const isSame = (field: keyof ServiceConfig, at: number, all: readonly string[]): boolean =>
    field === all[at] && (field === 'endpoints' || before[field] === config[field]);
  const known = Object.keys(before);
  return fields.length === known.length && fields.every((field, at) => isSame(field, at, known));
}
