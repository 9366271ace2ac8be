import type { EndpointConfig, ServiceConfig } from '#contract';
import type { KnownPlugins } from '../known-plugins.ts';
import type { Report } from '../report.ts';

/** What the document says at a pointer; undefined for a value that is inherited or a default. */
export type Written = (pointer: string) => unknown;

/** Looks at one endpoint, inherited values filled in. Pointers are by present names. */
export type EndpointRule = (
  endpoint: EndpointConfig,
  pointer: string,
  service: ServiceConfig,
  report: Report,
  written: Written,
  known: KnownPlugins,
) => void;

/** Looks at the whole service. */
export type ServiceRule = (service: ServiceConfig, report: Report, known: KnownPlugins) => void;

/** A route in messages: `GET /users/{id}`. */
export function routeName(endpoint: { readonly method: string; readonly endpoint: string }): string {
  return `${endpoint.method} ${endpoint.endpoint}`;
}

/** Where an endpoint's field is written: in the endpoint, at the root it is inherited from, or nowhere. */
export function placesOf(field: string, pointer: string, written: Written): readonly string[] {
  const place = [`${pointer}/${field}`, `/${field}`].find((candidate) => written(candidate) !== undefined);
  return place === undefined ? [] : [place];
}

/** The endpoint that takes whatever no other one matches. */
export const CATCHALL = '/__catchall';
