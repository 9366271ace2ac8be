import { type BackendCondition, type Call, defineSlot, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';

/** What was decided for each backend; undefined before it is its turn. */
type Decisions = (boolean | undefined)[];

type Conditions = readonly (BackendCondition | undefined)[];

/** Backends that are called only where their conditions hold. */
export interface Choice {
  /** Each with its condition. */
  readonly steps: readonly Step<PipeRequest>[];
  /** Stands around whatever calls them. */
  around(gathered: Step<PipeRequest>): Step<PipeRequest>;
}

/**
 * @param conditions of the backends, by position.
 * @param inTurn backends are called one after another, and each is decided when its turn comes; else all are before any call.
 * @param name tells this pipe from every other one.
 */
export function choiceOf(
  conditions: Conditions,
  steps: readonly Step<PipeRequest>[],
  inTurn: boolean,
  name: string,
): Choice {
  const slot = defineSlot<Decisions>(`backends chosen ${name}`);
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

/** Of backends whose answers pass as bytes the first that is chosen is called, alone. */
export function firstChosen(conditions: Conditions, steps: readonly Step<PipeRequest>[]): Step<PipeRequest> {
  return (request, call) => {
    const decisions: Decisions = [];
    decideAll(conditions, decisions, request, call);
    const at = decisions.indexOf(true);
    return at < 0 ? Reply.raw(200, new HeaderBag(), null) : steps[at]!(request, call);
  };
}

/** A shadow, which is no part of the list: it is called where its own condition holds. */
export function onCondition(condition: BackendCondition | undefined, step: Step<PipeRequest>): Step<PipeRequest> {
  const holds = condition?.holds;
  return holds ? (request, call) => (holds(request, call) ? step(request, call) : skipped()) : step;
}

/** The fallback comes last, wherever it stands. */
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

/** Nobody was to be called: that is no failure. */
function nothing(): Reply {
  const reply = Reply.data({});
  reply.skipped = true;
  return reply;
}
