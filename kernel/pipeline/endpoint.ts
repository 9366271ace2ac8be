import type { AtEndpoint, EndpointConfig } from '#contract';
import type { Attached } from './attach.ts';
import type { EndpointContext } from './attachments.ts';
import { backendNames, countResponses } from './backend-responses.ts';
import { EndpointTraffic } from './endpoint-traffic.ts';
import { type NestedPipe, nesting } from './nested.ts';
import { compilePipe } from './pipe.ts';
import { compileRequest } from './request.ts';
import { enterPipe, type Route } from './route.ts';
import { foldSettled } from './settle.ts';

/** Compiles one endpoint; undefined when it has mistakes, which are in `build.errors`. */
export function compileEndpoint(service: EndpointContext, endpoint: EndpointConfig, index: number): Route | undefined {
  const { build, hold } = service.build.forEndpoint();
  const nested: NestedPipe[] = [];
  const { method, endpoint: path } = endpoint;
  const traffic = build.keep('traffic', { method, endpoint: path }, () => new EndpointTraffic());
  const names = backendNames(endpoint.backend);
  build.defer(traffic.backends.hold(names));
  const counting: EndpointContext['counting'] = (at, next) => countResponses(traffic.backends, names[at]!, next);
  const context = nesting({ ...service, build, offers: service.offers.within(), counting }, nested);
  const pointer = `/endpoints/${index}`;
  const log = context.log.at(`[ENDPOINT: ${endpoint.endpoint}]`);
  const pipe = compilePipe(context, endpoint, pointer, log);
  if (!pipe) return undefined;
  const { step, output, attached, endpointPhase, maxPayloadBytes, stages, sets } = pipe;
  return {
    endpoint,
    output,
    log,
    hold,
    traffic,
    reads: build.reads,
    handle: foldSettled(
      endpointPhase.map(({ at }) => at.endpoint!),
      enterPipe(compileRequest(endpoint, context.agent, sets), step),
    ),
    depth: endpointPhase.length + 1,
    maxPayloadBytes,
    stages,
    sets,
    nested,
    upgrades: upgradesOf(attached),
    inflate: Boolean(build.config.router.decompress_gzip) || attached.some(({ at }) => at.payload?.inflate),
  };
}

const noUpgrades: ReadonlySet<string> = new Set();

function upgradesOf(attached: readonly Attached<AtEndpoint>[]): ReadonlySet<string> {
  const upgrades = attached.flatMap(({ at }) => at.upgrades ?? []);
  return upgrades.length === 0 ? noUpgrades : new Set(upgrades.map((protocol) => protocol.toLowerCase()));
}
