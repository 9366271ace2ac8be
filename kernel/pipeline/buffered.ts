import { CallError, CancelledError, type PipeRequest, Reply, type Step } from '#contract';

/** Reads a request body into memory once, so that every call inside can send all of it. */
export function buffered(next: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    const bytes = request.body?.bytes();
    if (!(bytes instanceof Promise)) return next(request, call);
    return bytes.then(
      () => next(request, call),
      // A body that breaks off for no reason of ours: its client has left.
      (error) => Reply.failed(error instanceof CallError ? error : new CancelledError()),
    );
  };
}
