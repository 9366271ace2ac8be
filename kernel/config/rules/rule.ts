import type { EndpointConfig, ServiceConfig } from '#contract';
import type { Report } from '../report.ts';

/** Looks at one endpoint, inherited values filled in. Pointers are by present names. */
export type EndpointRule = (endpoint: EndpointConfig, pointer: string, service: ServiceConfig, report: Report) => void;

/** Looks at the whole service. */
export type ServiceRule = (service: ServiceConfig, report: Report) => void;

/** A route in messages: `GET /users/{id}`. */
export function routeName(endpoint: { readonly method: string; readonly endpoint: string }): string {
  return `${endpoint.method} ${endpoint.endpoint}`;
}

/** The endpoint that takes whatever no other one matches. */
export const CATCHALL = '/__catchall';

/** Outputs that carry one backend's answer as it arrives. */
export const STREAMS: ReadonlySet<string> = new Set(['no-op', 'streaming', 'sse', 'ndjson', 'eventstream']);
