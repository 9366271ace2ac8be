/** Uncaught errors of this process. Each is a failure of the input that caused it. */
const strays: unknown[] = [];
const keep = (error: unknown): void => void strays.push(error);

/** Collects such errors, so that they do not end the process. @returns a function that stops the collection. */
export function keepStrays(): () => void {
  process.on('uncaughtException', keep).on('unhandledRejection', keep);
  return () => void process.off('uncaughtException', keep).off('unhandledRejection', keep);
}

/** Returns the errors since the last call. */
export function takeStrays(): readonly unknown[] {
  return strays.splice(0);
}
