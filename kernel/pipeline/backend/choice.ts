import { type BackendCondition, type Call, defineSlot, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';

/** Decision for each backend; undefined until it is made. */
type Decisions = (boolean | undefined)[];

type Conditions = readonly (BackendCondition | undefined)[];

/** Backends that are called only if their conditions hold. */
export interface Choice {
  /** The steps of all backends, each with the condition for calling it. */
  readonly steps: readonly Step<PipeRequest>[];
  /** Wraps the step that calls the selected backends. */
  around(gathered: Step<PipeRequest>): Step<PipeRequest>;
}

/**
 * @param conditions of the backends, by index.
 * @param inTurn whether backends are called one after another and each decision is made when its turn comes; otherwise
 * all are made before any call.
 * @param name unique name of this pipe.
 */
export function choiceOf(
  conditions: Conditions,
  steps: readonly Step<PipeRequest>[],
  inTurn: boolean,
  name: string,
): Choice {
  const slot = defineSlot<Decisions>(`decisions about conditional backends ${name}`);
  return {
    steps: steps.map((step, at) =>
      conditions[at]
        ? (request, call) => (decide(conditions, call.get(slot)!, at, request, call) ? step(request, call) : skipped())
        : step,
    ),
    around: (gathered) => (request, call) => {
      const decisions: Decisions = [];
      if (!inTurn) decideAll(conditions, decisions, request, call);
      const reply = gathered(request, call.with(slot, decisions));
      const settle = (settled: Reply): Reply => (isNothingChosen(conditions, decisions) ? nothing() : settled);
      return reply instanceof Promise ? reply.then(settle) : settle(reply);
    },
  };
}

/** Calls only the first chosen backend, for backends whose responses pass as bytes. */
export function firstChosen(conditions: Conditions, steps: readonly Step<PipeRequest>[]): Step<PipeRequest> {
  return (request, call) => {
    const decisions: Decisions = [];
    decideAll(conditions, decisions, request, call);
    const at = decisions.indexOf(true);
    return at < 0 ? Reply.raw(200, new HeaderBag(), null) : steps[at]!(request, call);
  };
}

/** Calls a shadow backend, which is not part of the list, if its own condition holds. */
export function onCondition(condition: BackendCondition | undefined, step: Step<PipeRequest>): Step<PipeRequest> {
  const holds = condition?.holds;
  return holds ? (request, call) => (holds(request, call) ? step(request, call) : skipped()) : step;
}

/** Decides for each conditional backend whether it is called. The fallback is decided last, regardless of its position in the list. */
function decideAll(conditions: Conditions, decisions: Decisions, request: PipeRequest, call: Call): void {
  for (const isFallback of [false, true]) {
    for (const [at, condition] of conditions.entries()) {
      if (condition && (condition.holds === null) === isFallback) decide(conditions, decisions, at, request, call);
    }
  }
}

function decide(conditions: Conditions, decisions: Decisions, at: number, request: PipeRequest, call: Call): boolean {
  const { holds } = conditions[at]!;
  decisions[at] ??= holds ? holds(request, call) : !decisions.includes(true);
  return decisions[at]!;
}

function isNothingChosen(conditions: Conditions, decisions: Decisions): boolean {
  return conditions.every((condition, at) => condition !== undefined && decisions[at] === false);
}

function skipped(): Reply {
  const reply = Reply.data(null);
  reply.skipped = true;
  return reply;
}

/** Reply when no backend was chosen, which is not a failure. */
function nothing(): Reply {
  const reply = Reply.data({});
  reply.skipped = true;
  return reply;
}
