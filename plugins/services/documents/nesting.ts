/** The error to report when reading or writing failed: a stack that ran out says what is wrong with the data. */
export function nestingError(error: unknown): unknown {
  return error instanceof RangeError && error.message.includes('call stack')
    ? new Error('nested too deeply', { cause: error })
    : error;
}
