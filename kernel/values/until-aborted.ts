/** Settles like the promise, or rejects with the reason of the signal, whichever comes first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
  });
}
