import type { Change } from '#kernel';
import type { Control } from '../../kernel/control/control.ts';
import { until } from './conditions.ts';

export interface HeldChange {
  /** Waits until the next change is built and about to become active, where it pauses until it is released. */
  readonly reached: Promise<void>;
  /** Waits until that many changes have been requested, including the paused one. */
  requested(count: number): Promise<void>;
  release(): void;
}

/** Pauses the next change, so that further changes wait behind it. */
export function holdChange(control: Control): HeldChange {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const requested: Change[] = [];
  const { apply } = control;
  control.apply = (change) => {
    requested.push(change);
    return apply.call(control, change);
  };
  control.participants.push({
    async prepare() {
      reached.resolve();
      await released.promise;
      return { commit() {}, abort() {} };
    },
  });
  return {
    reached: reached.promise,
    requested: (count) => until(() => requested.length >= count),
    release: released.resolve,
  };
}
