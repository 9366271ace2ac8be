import { type Call, timerMs } from '#contract';

/** Resolves with the promise, or rejects with the call's abort reason if the call ends first, so that callers never wait longer than their call. */
export function during<T>(call: Call, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancellation = call.onCancel(reject);
    promise.then(
      (value) => {
        cancellation.off();
        resolve(value);
      },
      (error) => {
        cancellation.off();
        reject(error);
      },
    );
  });
}

/** Error for a server or a thread that has not responded in time. */
export class Silence extends Error {}

/** Resolves with the promise if it is fulfilled in time. @throws Silence after that time; Error when the signal is aborted. */
export function within<T>(ms: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const fail = (error: Error) => {
      settle();
      reject(error);
    };
    const abort = () => fail(new Error('given up'));
    const timer = setTimeout(() => fail(new Silence(`no response within ${ms}ms`)), timerMs(ms));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    promise.finally(settle).then(resolve, reject);
  });
}
