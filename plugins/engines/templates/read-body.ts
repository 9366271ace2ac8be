import { CallError, CancelledError, type RequestBody, toCallError } from '#contract';

/** Longest body that is read without a body limit, in bytes. */
const LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Buffers a body in memory; it is then forwarded unchanged.
 * @returns null without a body; an error if it is too large or the client disconnected.
 */
export function readBody(body: RequestBody | null): Uint8Array | null | CallError | Promise<Uint8Array | CallError> {
  if (body === null) return null;
  try {
    body.restrict(LIMIT_BYTES);
    const bytes = body.bytesToParse();
    return bytes instanceof Promise ? bytes.catch(unreadable) : bytes;
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): CallError {
  return error instanceof CallError ? error : new CancelledError(toCallError(error).message);
}
