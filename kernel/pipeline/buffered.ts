import { CancelledError, type PipeRequest, Reply, type Step, toCallError } from '#contract';

/** Reads a request body into memory once, so that every call inside can send all of it. */
export function buffered(next: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    const bytes = request.body?.bytes();
    if (!(bytes instanceof Promise)) return next(request, call);
    return bytes.then(
      () => next(request, call),
      (error) => Reply.failed(hasLeft(error) ? new CancelledError() : toCallError(error)),
    );
  };
}

/** A body that breaks off: its client has left. */
function hasLeft(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
