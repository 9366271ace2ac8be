import type { Call } from '#contract';
import type { Trail } from '../contract/internal.ts';
import type { HookGuard } from './hook-guard.ts';

/** A pending hook, or the wrapped step that the hook awaits. */
interface Waiting {
  readonly guard: HookGuard;
  readonly call: Call;
  readonly promise: Promise<unknown>;
  readonly isInside: boolean;
  readonly before: Waiting | null;
}

/** Maximum promises remembered per call. */
const LONGEST = 100;

/** The path of a call through hooks of plugins from files. Identifies the hooks that hold the call when its deadline passes. */
class HookTrail implements Trail {
  #last: Waiting | null = null;
  #length = 0;

  /** Settled promises are not removed, so if a call awaits many promises, the oldest are forgotten. */
  add(guard: HookGuard, call: Call, promise: Promise<unknown>, isInside: boolean): void {
    const isLong = ++this.#length > LONGEST;
    if (isLong) this.#length = 1;
    this.#last = { guard, call, promise, isInside, before: isLong ? null : this.#last };
  }

  expired(part: Call): void {
    const waiting: Waiting[] = [];
    for (let at = this.#last; at; at = at.before) if (isPart(at.call, part)) waiting.push(at);
    void report(waiting);
  }
}

function isPart(call: Call, of: Call): boolean {
  for (let at: Call | null = call; at; at = at.outer) if (at === of) return true;
  return false;
}

/** Reports the hooks that delay the call, except hooks that wait for their wrapped step. */
async function report(waiting: readonly Waiting[]): Promise<void> {
  const pending = await Promise.all(waiting.map(async (each) => ({ each, isPending: await isPending(each.promise) })));
  const unsettled = pending.filter((one) => one.isPending).map(({ each }) => each);
  const gone = new Set(unsettled.filter(({ isInside }) => isInside).map(({ guard }) => guard));
  const holding = new Set(unsettled.filter(({ guard, isInside }) => !isInside && !gone.has(guard)));
  for (const { guard } of holding) guard.fault(new HeldTooLong());
}

/** Error for a hook that was still processing a request when the request's deadline passed. */
class HeldTooLong extends Error {
  constructor() {
    super('the hook was still processing the request when the deadline of the request passed');
    this.name = new.target.name;
    this.stack = '';
  }
}

const undecided = Symbol('undecided');

/** State of the promise at this moment; settling later has no effect on the result. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const first = await Promise.race([promise, undecided]).catch(() => null);
  return first === undecided;
}

/** Records that the call waits for the hook. */
export function waitsFor(guard: HookGuard, promise: Promise<unknown>, call: Call): void {
  follow(guard, promise, call, false);
}

/** Records that the hook waits for its wrapped step. */
export function waitsInside(guard: HookGuard, promise: Promise<unknown>, call: Call): void {
  follow(guard, promise, call, true);
}

function follow(guard: HookGuard, promise: Promise<unknown>, call: Call, isInside: boolean): void {
  let trail = call.trail as HookTrail | null;
  if (!trail) {
    trail = new HookTrail();
    call.trail = trail;
  }
  trail.add(guard, call, promise, isInside);
}
