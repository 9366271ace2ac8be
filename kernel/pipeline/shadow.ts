import { Call, type PipeRequest, type Step } from '#contract';

/** A backend that gets a copy of the traffic. */
export interface Shadow {
  readonly step: Step<PipeRequest>;
  readonly timeoutMs: number;
}

/**
 * Starts the shadow backends beside the pipe, detached from it: neither the client's leaving nor the end of the
 * endpoint's call stops them; their deadline is the longest of the group; their answers are dropped.
 */
export function withShadows(shadows: readonly Shadow[], next: Step<PipeRequest>): Step<PipeRequest> {
  if (shadows.length === 0) return next;
  const timeoutMs = Math.max(...shadows.map((shadow) => shadow.timeoutMs));
  return (request, call) => {
    const start = (): void => {
      const detached = new Call(call.log, timeoutMs);
      const runs = shadows.map(async ({ step }) => {
        const reply = await step(request.copy(), detached);
        for (const error of reply.errors) call.log.debug(() => `[Shadow] ${error.message}`);
        if (reply.body && 'drop' in reply.body) reply.body.drop();
      });
      Promise.allSettled(runs).then(() => detached.finish());
    };
    if (request.body === null) {
      start();
      return next(request, call);
    }
    const bytes = request.body.bytes();
    if (!(bytes instanceof Promise)) {
      start();
      return next(request, call);
    }
    return bytes.then(() => {
      start();
      return next(request, call);
    });
  };
}
