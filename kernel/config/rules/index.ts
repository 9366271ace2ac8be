import type { EndpointConfig, ServiceConfig } from '#contract';
import type { Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import type { Structure } from '../schema/structure.ts';
import { endpointTimeouts, serviceTimeouts, unsafeRepetition } from './calls.ts';
import { checkEndpointPath } from './endpoint-path.ts';
import { forwardedNames, forwardedSlips } from './forwarded-names.ts';
import { dnsCacheTtl, listenAddress, proxyProtocolSenders, socketMode, trustedProxies } from './network.ts';
import { warnOfOpenNeighbors } from './open-neighbors.ts';
import { mergeConflicts, outputSource, singleBackend } from './output.ts';
import { adminAddress, ownAddress } from './own-address.ts';
import { placeholders, urlPattern } from './placeholders.ts';
import { requiredComponents } from './required-components.ts';
import { checkCollisions, type Route } from './route-collisions.ts';
import type { EndpointRule, ServiceRule, Written } from './rule.ts';
import { shaping } from './shaping.ts';
import { clientTls, forwardedCertificate, serverTls } from './tls.ts';

const endpointRules: readonly EndpointRule[] = [
  singleBackend,
  placeholders,
  forwardedNames,
  forwardedSlips,
  unsafeRepetition,
  urlPattern,
  endpointTimeouts,
  mergeConflicts,
  shaping,
  outputSource,
];

/** Rules that also apply to pipes inside components. */
const pipeRules: readonly EndpointRule[] = [singleBackend, placeholders, urlPattern, mergeConflicts, shaping];

const serviceRules: readonly ServiceRule[] = [
  listenAddress,
  socketMode,
  proxyProtocolSenders,
  dnsCacheTtl,
  serverTls,
  forwardedCertificate,
  clientTls,
  trustedProxies,
  requiredComponents,
];

/** Checks a pipe inside a component; the original values in the document are not available. */
export function checkPipeRules(
  pipe: EndpointConfig,
  pointer: string,
  service: ServiceConfig,
  known: KnownPlugins,
  report: Report,
): void {
  const rules = [...pipeRules, adminAddress(service, known)];
  for (const rule of rules) rule(pipe, pointer, service, report, () => undefined, known);
}

/**
 * Runs the checks that a schema cannot express: combinations of fields and of endpoints. Skips endpoints with an
 * invalid structure, so that all other errors are still found. Yields after every endpoint.
 * @param isPartial the endpoints are a subset of the service's: checks across endpoints are skipped.
 */
export function* checkService(
  service: ServiceConfig,
  structure: Structure,
  known: KnownPlugins,
  report: Report,
  written: Written,
  isPartial: boolean,
): Generator<undefined, void, undefined> {
  if (!isPartial) for (const rule of serviceRules) rule(service, report, known);
  const pathOptions = { disableRest: service.disable_rest === true, probePaths: probePaths(service.router) };
  const rules = [...endpointRules, ownAddress(service), adminAddress(service, known)];
  const routes: Route[] = [];
  let isSound = true;
  for (const [index, endpoint] of service.endpoints.entries()) {
    const pointer = `/endpoints/${index}`;
    if (typeof endpoint?.endpoint === 'string' && typeof endpoint.method === 'string') {
      checkEndpointPath(endpoint, pointer, pathOptions, report);
      routes.push({ method: endpoint.method, endpoint: endpoint.endpoint, pointer });
    }
    if (!structure.isSound(pointer)) {
      isSound = false;
      continue;
    }
    for (const rule of rules) rule(endpoint, pointer, service, report, written, known);
    yield;
  }
  if (isPartial) return;
  if (isSound) {
    serviceTimeouts(service, report, known);
    yield* warnOfOpenNeighbors(service, known, report);
  }
  yield* checkCollisions(routes, report);
}

/** Paths of the health and readiness endpoints. */
function probePaths(router: ServiceConfig['router']): string[] {
  return [...(router.disable_health ? [] : [router.health_path]), ...(router.disable_ready ? [] : [router.ready_path])];
}

/**
 * Checks a service and all its endpoints together; each must be valid by itself.
 * @param isRouted the paths are the same as in a configuration that was already checked.
 */
export function* checkTogether(
  service: ServiceConfig,
  known: KnownPlugins,
  report: Report,
  isRouted: boolean,
): Generator<undefined, void, undefined> {
  for (const rule of serviceRules) rule(service, report, known);
  serviceTimeouts(service, report, known);
  yield* warnOfOpenNeighbors(service, known, report);
  if (isRouted) return;
  const routes = service.endpoints.map(({ method, endpoint }, index) => ({
    method,
    endpoint,
    pointer: `/endpoints/${index}`,
  }));
  yield* checkCollisions(routes, report);
}
