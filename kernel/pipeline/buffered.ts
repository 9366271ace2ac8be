import { CancelledError, type PipeRequest, Reply, type Step, toCallError } from '#contract';

/**
 * Reads a request body into memory once, so that every call inside can send all of it.
 *
 * @param unlessMeasured leave bodies alone whose length is known: against one that is not known the payload limit must be
 * held before a backend hears of the request.
 */
export function buffered(next: Step<PipeRequest>, unlessMeasured = false): Step<PipeRequest> {
  return (request, call) => {
    const { body } = request;
    if (body === null || (unlessMeasured && body.length !== undefined && !body.isTooLarge)) return next(request, call);
    const bytes = body.bytes();
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
