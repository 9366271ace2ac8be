import {
  type AfterHook,
  after,
  type Call,
  defineSlot,
  type PipeRequest,
  type Reply,
  type Slot,
  type Step,
  type Wrap,
} from '#contract';
import { afterHook } from '../../contract/internal.ts';
import type { BackendStages, PipeStages, Stage } from './stages.ts';

/** Time that one request spent in each stage of its pipe, in milliseconds, including time spent waiting. */
export interface StageTimes {
  /** By the index of the stage; without the time in the stages inside it. */
  readonly around: number[];
  readonly backends: readonly BackendTimes[];
}

/** Time that one request spent in the pipe of a backend, in milliseconds. */
export interface BackendTimes {
  /** By the index of the stage; without the time in the stages inside it. The last stage is the protocol. */
  readonly stages: number[];
  /** Time of the whole backend pipe. */
  total: number;
  /** Number of calls of the backend pipe. */
  calls: number;
}

/** Kinds of stages that are timed. Other stages run within one of these, or within the gateway's own code. */
const timedKinds: ReadonlySet<Stage['as']> = new Set([
  'endpoint',
  'proxy',
  'attempts',
  'backend',
  'transport',
  'protocol',
]);

/** Whether the time of a stage is measured. */
export function isTimed({ as }: Stage): boolean {
  return timedKinds.has(as);
}

/** Times of a request that has not started. */
export function noTimes({ around, backends }: PipeStages): StageTimes {
  return {
    around: zeros(around),
    backends: backends.map(({ stages }) => ({ stages: zeros(stages), total: 0, calls: 0 })),
  };
}

function zeros(stages: readonly Stage[]): number[] {
  return stages.map(() => 0);
}

/** Times of the request that a timed pipe processes. */
export const timesSlot: Slot<StageTimes> = defineSlot('stage times');

/** Place of a stage in the times of a request. */
interface TimedPlace {
  /** Index of the backend; -1 for a stage around all backends. */
  readonly backend: number;
  readonly stage: number;
}

/** Times the wraps around all backends of one kind, which are given in the order of their stages. */
export function timedAround<R>(wraps: readonly Wrap<R>[], { around }: PipeStages, as: Stage['as']): Wrap<R>[] {
  return timedWraps(wraps, around, as, -1);
}

/** Times the wraps of a backend of one kind, which are given in the order of their stages. */
export function timedWraps<R>(
  wraps: readonly Wrap<R>[],
  stages: readonly Stage[],
  as: Stage['as'],
  backend: number,
): Wrap<R>[] {
  const first = stages.findIndex((stage) => stage.as === as);
  return wraps.map((wrap, index) => timedWrap(wrap, { backend, stage: first + index }));
}

/** Times the protocol of a backend, its last stage. */
export function timedProtocol(call: Step<PipeRequest>, { stages }: BackendStages, backend: number): Step<PipeRequest> {
  return timedStep(call, { backend, stage: stages.length - 1 }, 1);
}

/** Times the whole pipe of a backend. */
export function timedBackend(step: Step<PipeRequest>, index: number): Step<PipeRequest> {
  return (request, call) => {
    const times = call.get(timesSlot)?.backends[index];
    if (!times) return step(request, call);
    const startedAt = performance.now();
    times.calls++;
    return whenDone(step(request, call), () => {
      times.total += performance.now() - startedAt;
    });
  };
}

/** A hook keeps its kind, because adjacent hooks are combined into one stage. */
function timedWrap<R>(wrap: Wrap<R>, place: TimedPlace): Wrap<R> {
  const hook = afterHook(wrap);
  if (hook) return after(timedHook(hook, place));
  return (next) => timedStep(wrap(timedStep(next, place, -1)), place, 1);
}

function timedHook<R>(hook: AfterHook<R>, place: TimedPlace): AfterHook<R> {
  return (reply, request, call) => {
    const times = timesAt(call, place);
    const startedAt = performance.now();
    const add = (): void => {
      if (times) times[place.stage]! += performance.now() - startedAt;
    };
    const pending = hook(reply, request, call);
    if (pending instanceof Promise) return pending.finally(add);
    add();
  };
}

/** Adds the time of a step to a stage, or subtracts the time of the stages inside it. */
function timedStep<R>(step: Step<R>, place: TimedPlace, sign: 1 | -1): Step<R> {
  return (request, call) => {
    const times = timesAt(call, place);
    if (!times) return step(request, call);
    const startedAt = performance.now();
    return whenDone(step(request, call), () => {
      times[place.stage]! += sign * (performance.now() - startedAt);
    });
  };
}

function timesAt(call: Call, { backend }: TimedPlace): number[] | undefined {
  const times = call.get(timesSlot);
  return backend < 0 ? times?.around : times?.backends[backend]?.stages;
}

function whenDone(reply: Reply | Promise<Reply>, done: () => void): Reply | Promise<Reply> {
  if (reply instanceof Promise) return reply.finally(done);
  done();
  return reply;
}
