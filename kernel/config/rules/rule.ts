import type { EndpointConfig, ServiceConfig } from '#contract';
import type { Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';

/** Returns the value in the document at a pointer; undefined for a value that is inherited or a default. */
export type Written = (pointer: string) => unknown;

/** Checks one endpoint, with inherited values filled in. Pointers use current names. */
export type EndpointRule = (
  endpoint: EndpointConfig,
  pointer: string,
  service: ServiceConfig,
  report: Report,
  written: Written,
  known: KnownPlugins,
) => void;

/** Checks the whole service. */
export type ServiceRule = (service: ServiceConfig, report: Report, known: KnownPlugins) => void;

/** Returns the name of a route for messages, for example `GET /users/{id}`. */
export function routeName(endpoint: { readonly method: string; readonly endpoint: string }): string {
  return `${endpoint.method} ${endpoint.endpoint}`;
}

/** Pointers to where an endpoint's field is written: in the endpoint, at the root it is inherited from, or nowhere. */
export function placesOf(field: string, pointer: string, written: Written): readonly string[] {
  const place = [`${pointer}/${field}`, `/${field}`].find((candidate) => written(candidate) !== undefined);
  return place === undefined ? [] : [place];
}

/** The endpoint that handles all requests that no other endpoint matches. */
export const CATCHALL = '/__catchall';
