import fc from 'fast-check';
import { type CertificateState, certificateStates } from './certificates.ts';
import { type Kind, kinds } from './configuration.ts';
import { planNames } from './failing.ts';
import type { Kill } from './kills.ts';

/** A change of the configuration. */
export interface ChangeStep {
  readonly act: 'save' | 'apply' | 'guarded' | 'dry' | 'twice';
  readonly kind: Kind;
  /** Index of a port. */
  readonly port: number;
}

export type Step =
  | ChangeStep
  /** Applies the first revision again. */
  | { readonly act: 'rollback' }
  | { readonly act: 'plugin'; readonly isGood: boolean }
  | { readonly act: 'certificate'; readonly state: CertificateState }
  /** Begins a request, or a stream, that lasts until a `release`. */
  | { readonly act: 'hold' | 'stream' | 'release' }
  /** Uses a rate limit, or a cache. */
  | { readonly act: 'count' | 'keep' }
  /** Lets files and clock of the gateway's process fail. */
  | { readonly act: 'fail'; readonly plan: string }
  /** Kills a worker now. */
  | { readonly act: 'kill'; readonly worker: number }
  /** Kills a worker at a later message. */
  | { readonly act: 'arm'; readonly kill: Kill };

const change = fc.record({
  act: fc.constantFrom('save', 'save', 'apply', 'guarded', 'dry', 'twice'),
  kind: fc.constantFrom(...kinds),
  port: fc.nat({ max: 2 }),
});
const activity = fc.record({
  act: fc.constantFrom('hold', 'stream', 'release', 'count', 'keep', 'rollback'),
});
const surroundings = [
  fc.record({ act: fc.constant('plugin'), isGood: fc.boolean() }),
  fc.record({ act: fc.constant('certificate'), state: fc.constantFrom(...certificateStates) }),
  fc.record({ act: fc.constant('fail'), plan: fc.constantFrom(...planNames) }),
];
const kill = fc.record({
  of: fc.constantFrom('order', 'report'),
  nth: fc.integer({ min: 1, max: 12 }),
  delayMs: fc.constantFrom(0, 0, 1, 5, 20),
});
const killing = [
  fc.record({ act: fc.constant('kill'), worker: fc.nat({ max: 1 }) }),
  fc.record({ act: fc.constant('arm'), kill }),
];

type Weighted = fc.WeightedArbitrary<unknown>;
const each = (weight: number, all: readonly fc.Arbitrary<unknown>[]): Weighted[] =>
  all.map((arbitrary) => ({ weight, arbitrary }));

const steps = (mostSteps: number, all: readonly Weighted[]): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.oneof(...all) as fc.Arbitrary<Step>, { minLength: 1, maxLength: mostSteps });

export const ofOneProcess = steps(12, [...each(6, [change]), ...each(5, [activity]), ...each(1, surroundings)]);
export const ofWorkers = steps(8, [
  ...each(6, [change]),
  ...each(4, [activity]),
  ...each(1, surroundings),
  ...each(2, killing),
]);
