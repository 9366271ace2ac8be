import { Call, claimsSlot, discard, type PipeRequest, type Slot, type Step, traceSlot } from '#contract';

/** A backend that gets a copy of the traffic. */
export interface Shadow {
  readonly step: Step<PipeRequest>;
  readonly timeoutMs: number;
}

/**
 * Starts calls of the shadow backends independently of the pipe: neither a client disconnect nor the end of the
 * endpoint's call stops them. Their deadline is the longest of the group, and their responses are discarded. A request
 * body must already be in memory.
 */
export function withShadows(shadows: readonly Shadow[], next: Step<PipeRequest>): Step<PipeRequest> {
  if (shadows.length === 0) return next;
  const timeoutMs = shadows.reduce((longest, shadow) => Math.max(longest, shadow.timeoutMs), 0);
  return (request, call) => {
    const detached = new Call(call.log, timeoutMs);
    handOver(claimsSlot, call, detached);
    handOver(traceSlot, call, detached);
    const runs = shadows.map((shadow) => run(shadow, request.copy(), detached));
    void Promise.all(runs).then(() => detached.finish());
    return next(request, call);
  };
}

async function run({ step }: Shadow, request: PipeRequest, call: Call): Promise<void> {
  try {
    const reply = await step(request, call);
    for (const error of reply.errors) call.log.debug(() => `[Shadow] ${error.message}`);
    discard(reply.body);
  } catch (error) {
    call.log.debug(() => `[Shadow] ${error instanceof Error ? error.stack : error}`);
  }
}

function handOver<T>(slot: Slot<T>, from: Call, to: Call): void {
  const value = from.get(slot);
  if (value !== undefined) to.set(slot, value);
}
