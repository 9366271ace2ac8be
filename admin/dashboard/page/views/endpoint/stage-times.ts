import type { Observation, ObservedRequest } from '../../api/use-observation.ts';

/** Time of one stage over several requests, in milliseconds. */
export interface StageTime {
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** Times of a pipe over several requests; null for a stage that was not timed. */
export interface PipeTimes {
  /** Number of timed requests. */
  readonly count: number;
  readonly pipe: StageTime | null;
  readonly around: readonly (StageTime | null)[];
  readonly backends: readonly {
    readonly total: StageTime | null;
    readonly stages: readonly (StageTime | null)[];
    /** Number of calls of the backend in a request, on average. */
    readonly calls: number;
  }[];
}

/** Number of the latest requests that are taken into account. */
const LATEST = 100;

/** Times of the stages of a pipe in the latest requests. */
export function timesOf(stages: Observation['stages'], requests: readonly ObservedRequest[]): PipeTimes {
  // Requests from before a reload may have passed other stages.
  const timed = requests
    .flatMap(({ sample }) => sample?.times ?? [])
    .filter(
      ({ aroundUs, backends }) =>
        aroundUs.length === stages.around.length &&
        backends.length === stages.backends.length &&
        backends.every(({ stagesUs }, at) => stagesUs.length === stages.backends[at]!.stages.length),
    )
    .slice(0, LATEST);
  return {
    count: timed.length,
    pipe: stageTime(timed.map(({ pipeUs }) => pipeUs)),
    around: stages.around.map((_, at) => stageTime(timed.map(({ aroundUs }) => aroundUs[at]!))),
    backends: stages.backends.map((backend, index) => {
      const called = timed.map(({ backends }) => backends[index]!).filter(({ calls }) => calls > 0);
      return {
        total: stageTime(called.map(({ totalUs }) => totalUs)),
        stages: backend.stages.map((_, at) => stageTime(called.map(({ stagesUs }) => stagesUs[at]!))),
        calls: timed.length === 0 ? 0 : called.reduce((sum, { calls }) => sum + calls, 0) / timed.length,
      };
    }),
  };
}

function stageTime(micros: readonly (number | null)[]): StageTime | null {
  const sorted = micros.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! / 1000;
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}
