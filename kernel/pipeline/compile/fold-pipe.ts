import {
  type AtEndpoint,
  after,
  type BackendConfig,
  type Encoding,
  type EndpointConfig,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import { sortByOrder } from '../../registry/order.ts';
import type { Attached } from '../attach/attach.ts';
import { type AttachedBackend, type EndpointContext, messageHooks } from '../attach/attachments.ts';
import { type BackendPlace, missingValue, type PlaceContext, placeOf } from '../backend/backend.ts';
import { choiceOf, firstChosen, onCondition } from '../backend/choice.ts';
import { type Shadow, withShadows } from '../backend/shadow.ts';
import { buffered } from '../request/buffered.ts';
import { compileDemands } from '../request/pattern.ts';
import type { PayloadLimits } from '../request/payload-limits.ts';
import { mergeReplies, parallel } from '../response/merge.ts';
import { fold } from '../steps/fold.ts';
import type { PipeStages } from '../steps/stages.ts';
import { timedAround } from '../steps/timing.ts';

/** Calls the backends of a pipe and merges their replies. */
export interface Gathering {
  readonly gather: AtEndpoint['gather'];
  readonly combine: AtEndpoint['combine'];
  /** Components that reshape the data, outermost first. */
  readonly shapes: readonly Folded[];
}

/** The parts of a pipe that are needed to combine its stages. */
export interface FoldedPipe extends Pick<PayloadLimits, 'maxPayloadBytes'> {
  readonly output: Encoding;
  readonly gathering: Pick<Gathering, 'gather' | 'combine'>;
  readonly stages: PipeStages;
  /** Whether a component reads the data of replies. */
  readonly readsData: boolean;
  /** Unique identification of the pipe. */
  readonly pointer: string;
  readonly attached: readonly Folded[];
  readonly proxyPhase: readonly Folded[];
  readonly backends: readonly FoldedBackend[];
}

type Folded = Pick<Attached<AtEndpoint>, 'plugin' | 'at'>;
type FoldedBackend = Pick<AttachedBackend, 'shadow' | 'condition' | 'unreadable' | 'compile'>;

/** Copies the parts of a pipe that are needed to combine its stages again: thousands of endpoints keep them. */
export function foldedPipe(pipe: FoldedPipe): FoldedPipe {
  const { output, gathering, maxPayloadBytes, readsData, stages, pointer, attached, proxyPhase, backends } = pipe;
  const lean = ({ plugin, at }: Folded): Folded => ({ plugin, at });
  return {
    output,
    gathering,
    maxPayloadBytes,
    readsData,
    stages,
    pointer,
    attached: fitted(attached.filter(({ at }) => at.message || at.shape).map(lean)),
    proxyPhase: fitted(proxyPhase.map(lean)),
    backends: backends.map(({ shadow, condition, unreadable, compile }) => ({
      shadow,
      condition,
      unreadable,
      compile,
    })),
  };
}

const none: readonly never[] = Object.freeze([]);

function fitted<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? none : list;
}

/** Context for combining the stages of a pipe. */
export type FoldContext = PlaceContext & Pick<EndpointContext, 'registry'>;

/**
 * Combines the stages of a pipe for an endpoint; other endpoints may share the hooks of its components.
 * @param isRead see `compilePipe`.
 */
export function foldPipe(
  context: FoldContext,
  { output, attached, backends: all, gathering, proxyPhase, maxPayloadBytes, readsData, stages, pointer }: FoldedPipe,
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
  const wraps = proxyPhase.map(({ at }) => at.proxy!);
  return fold(context.isTimed ? timedAround(wraps, stages, 'proxy') : wraps, shared);
}

/** A backend with its index in the endpoint that is being compiled. */
type PlacedBackend = FoldedBackend & { readonly place: BackendPlace };

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
