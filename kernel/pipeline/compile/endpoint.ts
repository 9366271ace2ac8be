import type { AtEndpoint, ClientRequest, EndpointConfig, PipeRequest, PipeTraits, Wrap } from '#contract';
import type { Attached } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import { credentialsOf, stateReader } from '../attach/shown-attachments.ts';
import { compileRequest } from '../request/request.ts';
import { foldAround } from '../steps/settle.ts';
import { timedAround } from '../steps/timing.ts';
import { backendNames, countResponses } from '../traffic/backend-responses.ts';
import { type FoldContext, type FoldedPipe, foldedPipe, foldPipe } from './fold-pipe.ts';
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
  const toPipe = compileRequest(endpoint, context, sets);
  const around = shell && { outer: shell.outer(pipe), inner: shell.inner(pipe) };
  return {
    endpoint,
    output,
    log,
    hold,
    traffic,
    reads: build.reads,
    handle: foldAround(wrapsWithin(around, wraps), enterPipe(toPipe, step, pipe.heedsCall), 1),
    timed: timedPipe({
      wraps: wraps.length === 0 ? noWraps : wraps,
      around,
      toPipe,
      heedsCall: pipe.heedsCall,
      folded: foldedPipe(pipe),
      // Without the build: the endpoint can serve under later configurations.
      context: { registry: context.registry, log: context.log, counting, isTimed: true },
      endpoint,
      isRead: shell !== null,
    }),
    credentials: credentialsOf(pipe),
    states: stateReader(pipe),
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

const noWraps: readonly never[] = Object.freeze([]);

/** The wraps of a shell; null without one. */
type Around = { readonly outer: Wrap<ClientRequest>; readonly inner: Wrap<ClientRequest> } | null;

function wrapsWithin(around: Around, wraps: readonly Wrap<ClientRequest>[]): readonly Wrap<ClientRequest>[] {
  return around ? [around.outer, ...wraps, around.inner] : wraps;
}

/** The parts of an endpoint that are needed to combine its stages again. */
interface TimedParts {
  readonly wraps: readonly Wrap<ClientRequest>[];
  readonly around: Around;
  readonly toPipe: (client: ClientRequest) => PipeRequest;
  readonly heedsCall: boolean;
  readonly folded: FoldedPipe;
  readonly context: FoldContext;
  readonly endpoint: EndpointConfig;
  readonly isRead: boolean;
}

/** Outside `compileEndpoint`, whose functions refer to the build. */
function timedPipe(parts: TimedParts): Route['timed'] {
  return () => {
    const { around, toPipe, heedsCall, folded, context, endpoint, isRead } = parts;
    const wraps = timedAround(parts.wraps, folded.stages, 'endpoint');
    const step = foldPipe(context, folded, endpoint, isRead);
    return foldAround(wrapsWithin(around, wraps), enterPipe(toPipe, step, heedsCall), 1);
  };
}

const noUpgrades: ReadonlySet<string> = new Set();

function upgradesOf(attached: readonly Attached<AtEndpoint>[]): ReadonlySet<string> {
  const upgrades = attached.flatMap(({ at }) => at.upgrades ?? []);
  return upgrades.length === 0 ? noUpgrades : new Set(upgrades.map((protocol) => protocol.toLowerCase()));
}
