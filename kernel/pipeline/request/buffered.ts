import { CancelledError, type PipeRequest, Reply, type Step, toCallError } from '#contract';

/**
 * Reads a request body into memory once, so that every inner call can send all of it.
 *
 * @param unlessMeasured leaves bodies with a known length alone; for an unknown length, the payload limit must be
 * enforced before a backend is called.
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

/** Whether reading the body failed because the client disconnected. */
function hasLeft(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
