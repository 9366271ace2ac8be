import { BackendError } from '#contract';

/** Longest message of a stream of text, in bytes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * A stream that is not what it should be. Code: `BACKEND_FRAMING`.
 * @param offset where in the stream, in bytes from its start.
 */
export function framingError(format: string, reason: string, offset: number): BackendError {
  return new BackendError('BACKEND_FRAMING', `${format}: ${reason} at byte ${offset}`);
}
