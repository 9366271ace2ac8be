/** Errors of this process that nothing caught: each is a find. */
const strays: unknown[] = [];
const keep = (error: unknown): void => void strays.push(error);

/** Keeps such errors until it is undone, so that they do not end the process. @returns undoes it. */
export function keepStrays(): () => void {
  process.on('uncaughtException', keep).on('unhandledRejection', keep);
  return () => void process.off('uncaughtException', keep).off('unhandledRejection', keep);
}

/** Those since the last call. */
export function takeStrays(): readonly unknown[] {
  return strays.splice(0);
}
