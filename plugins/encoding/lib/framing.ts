import { BackendError } from '#contract';

/** Maximum length of a message in a text stream, in bytes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * Error for an invalid stream. Code: `BACKEND_FRAMING`.
 * @param offset position in the stream, in bytes from its start.
 */
export function framingError(format: string, reason: string, offset: number): BackendError {
  return new BackendError('BACKEND_FRAMING', `${format}: ${reason} at byte ${offset}`);
}
