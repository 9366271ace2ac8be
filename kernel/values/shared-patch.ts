/**
 * Shares a modification of the process: the first caller makes it, and it is undone when the last one has ended it.
 * @param patch makes the modification. @returns a function whose result ends it for one caller.
 */
export function sharedPatch(patch: () => () => void): () => () => void {
  let callers = 0;
  let restore: (() => void) | null = null;
  return () => {
    callers += 1;
    restore ??= patch();
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      callers -= 1;
      if (callers > 0) return;
      restore?.();
      restore = null;
    };
  };
}
