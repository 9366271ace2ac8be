/** The error to report when reading or writing failed: a stack overflow is reported as data that is nested too deeply. */
export function nestingError(error: unknown): unknown {
  return error instanceof RangeError && error.message.includes('call stack')
    ? new Error('nested too deeply', { cause: error })
    : error;
}
