import { type Call, CallError, type PipeRequest, type Reply, type Wrap } from '#contract';
import { listeningToModels, modelListenersOf } from '../../shared/ports/model-usage.ts';

const endings: ReadonlySet<string> = new Set(['CALL_DEADLINE', 'CALL_CANCELLED']);

/** Reports calls that ended before the vendor responded, and whose usage is therefore unknown. */
export const reportingInterruptions: Wrap<PipeRequest> = (next) => (request, call) => {
  const listeners = modelListenersOf(call);
  if (listeners.length === 0) return next(request, call);
  let isReported = false;
  const report = (): void => {
    if (!isReported) for (const listener of listeners) listener(null);
  };
  const observed = listeningToModels(call, () => {
    isReported = true;
  });
  const run = async (): Promise<Reply> => {
    try {
      const reply = await next(request, observed);
      if (reply.body === null && isInterrupted(reply.errors, call)) report();
      return reply;
    } catch (error) {
      if (isInterrupted([error], call)) report();
      throw error;
    }
  };
  return run();
};

/** Whether the client or a deadline ended the call, or part of it. */
function isInterrupted(errors: readonly unknown[], call: Call): boolean {
  const isEnd = (error: unknown) => error instanceof CallError && endings.has(error.code);
  return call.reason !== null || errors.some((error) => isEnd(error) || (error instanceof Error && isEnd(error.cause)));
}
