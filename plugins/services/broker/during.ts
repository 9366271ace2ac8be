import type { Call } from '#contract';

/** What a promise brings, or the reason of the call when that ends first: whoever waits never waits longer. */
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
