import {
  type AtService,
  type EndpointConfig,
  meterOf,
  meters,
  productNames,
  type ServiceConfig,
  type Site,
} from '#contract';
import { joinPointer } from '../../config/index.ts';
import { sortByOrder } from '../../registry/order.ts';
import type { Registry } from '../../registry/registry.ts';
import { type Attached, attach, collecting, onlyClaim, reportHidden } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import type { Build } from '../attach/build.ts';
import { attachContained } from '../attach/guards.ts';
import type { Location } from '../attach/location.ts';
import { type ConfiguredPlugin, findPlugins } from '../attach/namespaces.ts';
import { type AttachDefault, byDependency, Offers } from '../attach/offers.ts';
import { Reads } from '../attach/reads.ts';
import { createSite } from '../attach/site.ts';
import { compileCertificateHeader } from '../request/client-certificate.ts';
import { type CompiledAgent, compileAgent } from './agent.ts';
import { compileHttp2, type Http2Routes } from './http2-routes.ts';
import { type NestedPipe, nesting } from './nested.ts';
import type { Route } from './route.ts';

/** The parts of a configuration around all endpoints, and those that are independent of them. */
export interface ServiceFrame {
  readonly context: EndpointContext;
  /** Service-level components with their hooks, in the order in which their `attach` functions were called. */
  readonly service: readonly Attached<AtService>[];
  /** Pipes nested in these components. */
  readonly nested: readonly NestedPipe[];
  /** Agents, and endpoints that a component publishes over HTTP/2: compiled after the endpoints. */
  rest: { readonly http2: Http2Routes | null; readonly agents: readonly CompiledAgent[] } | null;
  /** Whether everything is compiled, so that no other component can be added at the root. */
  isClosed: boolean;
}

/** The parts of an earlier configuration that a later one reuses. */
export interface Earlier {
  readonly frame: ServiceFrame;
  /** Returns the route at an index; null when it must be compiled. */
  take(index: number, endpoint: EndpointConfig): Route | null;
  /** Reuses also the parts of the previous configuration that do not belong to an endpoint. */
  takeRest(): void;
}

/** The parts of an earlier configuration cannot be reused: the new one must be compiled from scratch. */
export class RebuildNeeded extends Error {}

/** Attaches the service-level components. Errors are collected in `build.errors`. */
export function attachService(build: Build, registry: Registry): ServiceFrame {
  const { config, services } = build;
  const service: Attached<AtService>[] = [];
  const offers = Offers.atRoot(registry.openScope(), (namespace) => attachDefault(namespace));
  const nested: NestedPipe[] = [];
  const agent = productNames(config.router, services.version).agent;
  const requestId = config.router.request_id;
  const addCertificate = compileCertificateHeader(config.forward_client_cert);
  const context = nesting(
    { build, registry, service, offers, agent, requestId, addCertificate, log: services.log },
    nested,
  );
  const frame: ServiceFrame = { context, service, nested, rest: null, isClosed: false };
  for (const name of registry.catalogue.always ?? []) {
    const plugin = registry.plugin(name)!;
    const log = services.log.at(`[SERVICE: ${name}]`);
    const reads = new Reads(build.reads);
    const { compilePipe } = context;
    const site = createSite(build, plugin, undefined, { pointer: '', log, offers, compilePipe, reads });
    const handed = collecting(build, '', () =>
      attachContained(build, plugin, '', undefined, () => plugin.always?.(site as unknown as Site<undefined>)),
    );
    if (!handed) continue;
    offers.add(plugin, handed.offers);
    service.push({ plugin, at: handed, pointer: '', reads });
  }
  const results = findPlugins(build, registry, config.extra_config, 'service', '');
  const attachOne = (
    { plugin, place, config: raw, pointer }: ConfiguredPlugin,
    unnamed: Pick<Location, 'isUnnamed'> = {},
  ): void => {
    const log = services.log.at(`[SERVICE: ${plugin.name}]`);
    const reads = new Reads(build.reads);
    const { compilePipe } = context;
    const errorCount = build.errors.length;
    const handed = attach<AtService>(build, plugin, place, raw, {
      pointer,
      log,
      offers,
      compilePipe,
      reads,
      ...unnamed,
    });
    const error = build.errors[errorCount];
    if (!handed && error) offers.withhold(plugin, error);
    if (!handed) return;
    offers.add(plugin, handed.offers);
    service.push({ plugin, at: handed, pointer, reads });
  };
  const named = new Set(results.map(({ plugin }) => plugin));
  const attachDefault: AttachDefault = (namespace) => {
    const plugin = registry.plugin(namespace);
    const place = registry.place(namespace, 'service');
    if (!plugin || !place || named.has(plugin)) return;
    if (frame.isClosed) throw new RebuildNeeded(`the namespace "${namespace}" is appended at the root`);
    named.add(plugin);
    const pointer = joinPointer('', 'extra_config', namespace);
    attachOne({ plugin, place, config: {}, pointer }, { isUnnamed: true });
  };
  for (const each of byDependency(results)) attachOne(each);
  refuseSecondClaims(build, service);
  measureFaults(build, offers);
  const wrapping = service.filter(({ at }) => at.request !== undefined);
  reportHidden(build, sortByOrder(wrapping, registry.catalogue.order, 'request'));
  return frame;
}

/** Compiles the parts outside the endpoints. */
export function compileRest(context: EndpointContext, config: ServiceConfig): NonNullable<ServiceFrame['rest']> {
  return {
    http2: compileHttp2(context),
    agents: config.async_agent.flatMap((agent, index) => compileAgent(context, agent, index) ?? []),
  };
}

/** Counts the faults of plugins from files, if a component exports metrics. */
function measureFaults(build: Build, offers: Offers): void {
  const asking = { name: 'faults', description: '', takes: [meters] };
  // If the component that exports metrics was rejected, this fails with the error of the component, which is listed
  // only once.
  const find = () => meterOf({ takeAll: (port) => offers.takeAll(asking, port) });
  const meter = build.containment && collecting(build, '', find);
  if (!meter) return;
  const description = 'Number of errors in hooks of plugins that were loaded from files.';
  build.faultMeter.faults = meter.counter('plugin.faults', { description });
}

/** Rejects a configuration in which several service-level components provide a setting that only one may provide. */
function refuseSecondClaims(build: Build, service: readonly Attached<AtService>[]): void {
  onlyClaim(build, service, 'reload', 'decide how configurations are replaced');
  onlyClaim(build, service, 'admin', 'set the admin port');
  onlyClaim(build, service, 'virtualHosts', 'select endpoints by the host of the request');
  const logging = service.flatMap(({ at, ...rest }) => (at.logging ? [{ ...rest, at: at.logging }] : []));
  onlyClaim(build, logging, 'level', 'set the level of the application log');
  onlyClaim(build, logging, 'format', 'decide the format of the application log');
  onlyClaim(build, logging, 'accessSink', 'set the destination of the access log');
}
