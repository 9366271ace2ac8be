import type { ContestOutcome } from './contest-report.ts';
import type { Outcome } from './report.ts';
import { gateway } from './subject.ts';

/** Expected ratios, which are committed to the repository. */
export interface Expected {
  /** Tolerance for ratios above the expected value, as a share of it. */
  readonly tolerance: number;
  /** CPU time of the gateway relative to the floor, by scenario. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** Result line of one scenario. */
export interface Verdict {
  readonly isRight: boolean;
  readonly text: string;
}

/** Ratios of the gateway in the JSON of a run, by scenario; scenarios without results are omitted. @throws Error for invalid JSON. */
export function ratiosOf(run: unknown): ReadonlyMap<string, number> {
  const { scenarios } = run as { scenarios?: readonly (Outcome | ContestOutcome)[] };
  if (!Array.isArray(scenarios)) throw new Error('the file is not the JSON of a run of the benchmark');
  return new Map(
    (scenarios as readonly (Outcome | ContestOutcome)[]).flatMap((outcome) => {
      const ratio = ratioOf(outcome);
      return ratio === undefined ? [] : [[outcome.name, ratio] as const];
    }),
  );
}

function ratioOf(outcome: Outcome | ContestOutcome): number | undefined {
  if ('ratio' in outcome) return outcome.ratio.median;
  if (!('results' in outcome)) return undefined;
  return outcome.results.find(({ name }) => name === gateway.name)?.ratio?.median;
}

/** A scenario without results fails; one that costs much less passes, and its line says that the file is out of date. */
export function compareRatios(ratios: ReadonlyMap<string, number>, { tolerance, ratios: all }: Expected): Verdict[] {
  return Object.entries(all).map(([name, expected]) => {
    const ratio = ratios.get(name);
    if (ratio === undefined) return { isRight: false, text: `${name}: no figures` };
    const figures = `${name}: ${ratio.toFixed(2)}, expected ${expected.toFixed(2)}`;
    if (ratio > expected * (1 + tolerance)) {
      return { isRight: false, text: `${figures}: more than ${Math.round(tolerance * 100)} % above` };
    }
    const isLess = ratio < expected / (1 + tolerance);
    return { isRight: true, text: isLess ? `${figures}: less than committed, expected.json can be lowered` : figures };
  });
}
