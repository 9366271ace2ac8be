import {
  type AtBackend,
  type AtEndpoint,
  type AttachmentTraits,
  after,
  type BackendConfig,
  ConfigError,
  type Encoding,
  type EndpointConfig,
  type Log,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import { joinPointer } from '../../config/index.ts';
import { sortByOrder } from '../../registry/order.ts';
import { type Attached, onlyClaim, reportHidden } from '../attach/attach.ts';
import {
  type AttachedBackend,
  attachBackend,
  attachEndpoint,
  type EndpointContext,
  findEncoding,
  messageHooks,
} from '../attach/attachments.ts';
import type { Build } from '../attach/build.ts';
import { type BackendPlace, missingValue, placeOf } from '../backend/backend.ts';
import { choiceOf, firstChosen, onCondition } from '../backend/choice.ts';
import { type Shadow, withShadows } from '../backend/shadow.ts';
import { buffered } from '../request/buffered.ts';
import { compileDemands } from '../request/pattern.ts';
import { type PayloadLimits, payloadLimits } from '../request/payload-limits.ts';
import { describeMerge } from '../response/describe-merge.ts';
import { mergeReplies, parallel } from '../response/merge.ts';
import { fold } from '../steps/fold.ts';
import { type PipeStages, stagesAround } from '../steps/stages.ts';

/** The part of an endpoint that is independent of the client: backends, their merge, and the wraps around them. */
export interface CompiledPipe extends AttachedPipe {
  readonly step: Step<PipeRequest>;
}

/** A pipe with its components attached and checked. */
export interface AttachedPipe extends PayloadLimits {
  readonly output: Encoding;
  /** Attachments of the endpoint's components. */
  readonly attached: readonly Attached<AtEndpoint>[];
  readonly backends: readonly AttachedBackend[];
  readonly gathering: Pick<Gathering, 'gather' | 'combine'>;
  /** Wraps around the client's request, outermost first. */
  readonly endpointPhase: readonly Attached<AtEndpoint>[];
  /** Wraps around the request to the backends, outermost first. */
  readonly proxyPhase: readonly Attached<AtEndpoint>[];
  readonly stages: PipeStages;
  /** Headers that components set on requests to backends, in lowercase. */
  readonly sets: ReadonlySet<string>;
  /** Whether a component reads the data of replies. */
  readonly readsData: boolean;
  /**
   * Whether the pipe itself responds as soon as its call ends, so that no timer is needed. Requests with a body are
   * exempt.
   */
  readonly heedsCall: boolean;
  /** Unique identification of the pipe. */
  readonly pointer: string;
}

/**
 * Compiles a pipe; undefined when it has errors, which are in `build.errors`.
 * @param isRead whether code around the pipe reads the data of its replies.
 */
export function compilePipe(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
  isRead = false,
): CompiledPipe | undefined {
  const pipe = attachPipe(context, endpoint, pointer, log);
  if (!pipe) return undefined;
  describeMerge(pipe, log);
  return { ...pipe, step: foldPipe(context, pipe, endpoint, isRead) };
}

/** Attaches the parts of a pipe; undefined when it has errors, which are in `build.errors`. */
export function attachPipe(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
): AttachedPipe | undefined {
  const { build, registry } = context;
  const before = build.errors.length;
  const output = findEncoding(
    context,
    endpoint.output_encoding,
    joinPointer(pointer, 'output_encoding'),
    'write',
    endpoint,
  );
  const attached = attachEndpoint(context, endpoint, pointer, log);
  const backends = endpoint.backend.map((backend, at) =>
    attachBackend(context, endpoint, backend, joinPointer(pointer, 'backend', at), at, output, attached),
  );
  if (!output || build.errors.length > before) return undefined;
  const regular = backends.filter((backend) => !backend.shadow);
  const everything = [...attached, ...backends.flatMap((backend) => backend.attached)];
  if (regular.length === 0) build.errors.push(onlyShadows(backends, pointer));
  if (output.raw) refuseReaders(build, everything, output, pointer);
  const gathering = claimsOf(build, attached);
  if (build.errors.length > before) return undefined;
  const phase = (name: 'endpoint' | 'proxy') =>
    sortByOrder(
      attached.filter(({ at }) => at[name] !== undefined),
      registry.catalogue.order,
      name,
    );
  const endpointPhase = phase('endpoint');
  const proxyPhase = phase('proxy');
  reportHidden(build, [...endpointPhase, ...proxyPhase]);
  const isChosen = regular.some(({ condition }) => condition);
  return {
    output,
    attached,
    backends,
    gathering,
    endpointPhase,
    proxyPhase,
    ...payloadLimits(
      build.config.router.max_payload,
      attached.map(({ at }) => at.payload?.maxBytes ?? 0),
    ),
    readsData: everything.some(({ at }) => at.readsData),
    heedsCall: proxyPhase.length === 0 && !isChosen && !gathering.gather && regular.every((each) => each.heedsCall),
    sets: headersSet([...context.service, ...everything]),
    stages: {
      around: stagesAround(endpointPhase, proxyPhase, attached, regular.length > 1, output.messages !== undefined),
      backends: backends.map((backend) => backend.stages),
    },
    pointer,
  };
}

/**
 * Combines the stages of a pipe for an endpoint; other endpoints may share its attachments.
 * @param isRead see `compilePipe`.
 */
export function foldPipe(
  context: Pick<EndpointContext, 'registry' | 'log' | 'counting'>,
  { output, attached, backends: all, gathering, proxyPhase, maxPayloadBytes, readsData, pointer }: AttachedPipe,
  endpoint: EndpointConfig,
  isRead = false,
): Step<PipeRequest> {
  const { registry } = context;
  const backends = all.map((backend, at): PlacedBackend => ({ ...backend, place: placeOf(context, endpoint, at) }));
  const regular = backends.filter((backend) => !backend.shadow);
  const unread = !isRead && !readsData;
  const alone = regular.length === 1 && backends.length === 1;
  const outerHooks = messageHooks(attached, registry, 'proxy');
  const conditions = regular.map(({ condition }) => condition);
  const shapes = sortByOrder(
    attached.filter(({ at }) => at.shape),
    registry.catalogue.order,
    'proxy',
  );
  const { gather: gathers, combine } = gathering;
  const joins = regular.length > 1 && !gathers && !combine && shapes.length === 0 && !conditions.some(Boolean);
  const passes = unread && (alone || (joins && output.merges !== undefined));
  const compiled = regular.map((backend) => backend.compile(backend.place, output, passes, alone, outerHooks));
  const inTurn = gathers?.sequential === true;
  const choice = conditions.some(Boolean) ? choiceOf(conditions, compiled, inTurn, pointer) : null;
  const steps = choice?.steps ?? compiled;
  const shadows = backends
    .filter((backend) => backend.shadow)
    .map(
      (backend): Shadow => ({
        step: onCondition(backend.condition, backend.compile(backend.place, output, false, false, [])),
        timeoutMs: backend.shadow!.timeoutMs ?? endpoint.timeout,
      }),
    );
  const together = () => gather({ ...gathering, shapes }, regular, steps, endpoint, passes ? output : null);
  const isOneOf = choice && output.raw && compiled.length > 1;
  const chosen = isOneOf ? firstChosen(conditions, compiled) : choice ? choice.around(together()) : together();
  const gathered = withShadows(shadows, chosen);
  const single = alone && endpoint.concurrent_calls === 1;
  const shared = single && maxPayloadBytes === 0 ? gathered : buffered(gathered, single);
  return fold(
    proxyPhase.map(({ at }) => at.proxy!),
    shared,
  );
}

/** A backend with its place in the endpoint that is being compiled. */
type PlacedBackend = AttachedBackend & { readonly place: BackendPlace };

const noHeaders: ReadonlySet<string> = new Set();

function headersSet(attached: readonly Attached<AttachmentTraits>[]): ReadonlySet<string> {
  const names = attached.flatMap(({ at }) => at.sets ?? []);
  return names.length === 0 ? noHeaders : new Set(names.map((name) => name.toLowerCase()));
}

function onlyShadows(backends: readonly AttachedBackend[], pointer: string): ConfigError {
  const message = 'every backend is a shadow: the request would have no response';
  return new ConfigError('ENDPOINT_BACKENDS', joinPointer(pointer, 'backend'), message, {
    hint: 'remove "shadow" from one of the backends',
    related: backends.flatMap(({ attached }) =>
      attached.filter(({ at }) => at.shadow).map((shadow) => `${shadow.pointer}/shadow`),
    ),
  });
}

/** Calls the backends of a pipe and merges their replies. */
interface Gathering {
  readonly gather: AtEndpoint['gather'];
  readonly combine: AtEndpoint['combine'];
  /** Components that reshape the data, outermost first. */
  readonly shapes: readonly Attached<AtEndpoint>[];
}

function claimsOf(build: Build, attached: readonly Attached<AtEndpoint>[]): Pick<Gathering, 'gather' | 'combine'> {
  return {
    gather: onlyClaim(build, attached, 'gather', 'decide how the backends are called'),
    combine: onlyClaim(build, attached, 'combine', 'decide how the responses are merged'),
  };
}

function gather(
  { gather: custom, combine, shapes }: Gathering,
  backends: readonly PlacedBackend[],
  steps: readonly Step<PipeRequest>[],
  endpoint: EndpointConfig,
  joined: Encoding | null,
): Step<PipeRequest> {
  if (steps.length === 1) return backends[0]!.unreadable ? withoutBytes(steps[0]!) : steps[0]!;
  const gathered = custom ? custom.over(steps) : parallel(steps, combine, endpoint.timeout, joined);
  const whole = demanding(
    backends.filter(({ condition }) => !condition).map(({ place }) => place.backend),
    gathered,
  );
  return fold(
    shapes.map(({ at }) =>
      after<PipeRequest>((reply) => {
        if (reply.data) reply.data = at.shape!(reply.data);
      }),
    ),
    whole,
  );
}

/**
 * Drops status and headers of a `no-op` backend if the endpoint decodes responses, because they do not belong to the
 * response for the client.
 */
function withoutBytes(step: Step<PipeRequest>): Step<PipeRequest> {
  return async (request, call) => {
    const reply = await step(request, call);
    return reply.failed || reply.complete === null ? reply : mergeReplies([reply]);
  };
}

/** Rejects a request that lacks a value required by any of several backends, before any of them is called. */
function demanding(backends: readonly BackendConfig[], next: Step<PipeRequest>): Step<PipeRequest> {
  if (!backends.some(({ url_pattern: pattern, host }) => [pattern, ...host].some((text) => text.includes('{')))) {
    return next;
  }
  /** The check is compiled on the first request, like the pipes of backends. */
  let meets: ReturnType<typeof compileDemands> | undefined;
  return (request, call) => {
    if (meets === undefined) meets = compileDemands(backends);
    return !meets || meets(request, call) ? next(request, call) : Reply.failed(missingValue());
  };
}

/** Reports components that read data where bytes pass undecoded, unless they read message by message. */
function refuseReaders(
  build: Build,
  attached: readonly Attached<AtEndpoint | AtBackend>[],
  output: Encoding,
  pointer: string,
): void {
  for (const { plugin, at, pointer: component } of attached) {
    if (at.readsData !== true || (output.messages && at.message)) continue;
    const reason = output.messages ? 'has no complete data' : 'passes bytes undecoded';
    const message = `"${plugin.name}" requires decoded data, but output_encoding "${output.name}" ${reason}`;
    build.errors.push(
      new ConfigError('ENDPOINT_NO_DATA', joinPointer(pointer, 'output_encoding'), message, {
        hint: `use an output_encoding that decodes, such as "json", or remove "${plugin.name}"`,
        related: [component],
      }),
    );
  }
}
