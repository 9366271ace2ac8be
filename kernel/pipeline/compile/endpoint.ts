import type { AtEndpoint, ClientRequest, EndpointConfig, PipeTraits, Wrap } from '#contract';
import type { Attached } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import { compileRequest } from '../request/request.ts';
import { foldAround } from '../steps/settle.ts';
import { backendNames, countResponses } from '../traffic/backend-responses.ts';
import { type NestedPipe, nesting } from './nested.ts';
import { compilePipe } from './pipe.ts';
import type { PlainEndpoints } from './plain-endpoints.ts';
import { enterPipe, type Route } from './route.ts';

/** Wraps that a component puts around an endpoint it publishes. */
export interface EndpointShell {
  readonly outer: (traits: PipeTraits) => Wrap<ClientRequest>;
  readonly inner: (traits: PipeTraits) => Wrap<ClientRequest>;
}

/**
 * Compiles one endpoint; undefined when it has errors, which are in `build.errors`.
 * @param pointer location of the endpoint. @param shell wraps around it; null for none.
 * @param plain shared parts of endpoints without components; null for none.
 */
export function compileEndpoint(
  service: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  shell: EndpointShell | null = null,
  plain: PlainEndpoints | null = null,
): Route | undefined {
  const form = plain?.formOf(endpoint) ?? null;
  const known = form === null ? null : plain!.route(form, endpoint, pointer);
  if (known !== null) return known;
  const { build, hold } = service.build.forEndpoint();
  const nested: NestedPipe[] = [];
  const traffic = build.traffic(endpoint, hold);
  const names = backendNames(endpoint.backend);
  const counting: EndpointContext['counting'] = (at, next) => countResponses(traffic.backends, names[at]!, next);
  const context = nesting({ ...service, build, offers: service.offers.within(), counting }, nested);
  const log = context.log.at(`[ENDPOINT: ${endpoint.endpoint}]`);
  const pipe = compilePipe(context, endpoint, pointer, log, shell !== null);
  if (!pipe) return undefined;
  if (form !== null) plain!.learn(form, pipe, endpoint, build);
  const { step, output, attached, endpointPhase, maxPayloadBytes, maxParsedBytes, stages, sets } = pipe;
  const wraps = endpointPhase.map(({ at }) => at.endpoint!);
  return {
    endpoint,
    output,
    log,
    hold,
    traffic,
    reads: build.reads,
    handle: foldAround(
      shell ? [shell.outer(pipe), ...wraps, shell.inner(pipe)] : wraps,
      enterPipe(compileRequest(endpoint, context, sets), step, pipe.heedsCall),
      1,
    ),
    depth: wraps.length + (shell ? 3 : 1),
    maxPayloadBytes,
    maxParsedBytes,
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
