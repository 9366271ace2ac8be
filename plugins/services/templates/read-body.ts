import { CallError, CancelledError, type RequestBody, toCallError } from '#contract';

/** Longest body that is looked into where no limit is set for bodies, in bytes. */
const LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Reads a body into memory, from where it goes on as it came.
 * @returns null for none; an error where it is too large or its client has left.
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
