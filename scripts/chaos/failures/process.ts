import type { Replace } from './files.ts';
import type { Failures } from './plan.ts';

/** Changes the clock, blocks the event loop and fills the memory as planned. @returns a function that ends this. */
export function wrapProcess(failures: Failures, replace: Replace): () => void {
  const RealDate = globalThis.Date;
  const now = (): number => RealDate.now() + (failures.plan.clockMs ?? 0);
  class WrongDate extends RealDate {
    constructor(...given: ConstructorParameters<typeof Date> | []) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now = now;
  }
  replace(globalThis, 'Date', () => WrongDate as never);

  let heldAt = performance.now();
  let filledAt = heldAt;
  const timer = setInterval(() => {
    const { hold, garbage } = failures.plan;
    const at = performance.now();
    if (hold && at - heldAt >= hold.everyMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, hold.ms);
      heldAt = performance.now();
    }
    if (garbage && at - filledAt >= garbage.everyMs) {
      fill(garbage.mib);
      filledAt = performance.now();
    }
  }, 10).unref();
  return () => clearInterval(timer);
}

/** Fills the heap with objects that become garbage at once. */
function fill(mib: number): void {
  const pieces: number[][] = [];
  for (let at = 0; at < mib; at++) pieces.push(Array.from({ length: 131_072 }, (_, index) => index + at));
  pieces.length = 0;
}
