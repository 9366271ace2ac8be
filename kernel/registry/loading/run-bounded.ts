import { Script } from 'node:vm';

/** Key under which the function to run is passed to the script that a timeout can stop. */
const KEY = Symbol.for('sluice.bounded');
const holder = globalThis as unknown as Record<symbol, (() => unknown) | undefined>;
let script: Script | undefined;

/**
 * Calls a function, and stops it on timeout, even in an endless loop.
 * @param ms time limit until it returns.
 * @throws the function's error; Error ERR_SCRIPT_EXECUTION_TIMEOUT when it was stopped.
 */
export function runBounded<T>(work: () => T, ms: number): T {
  script ??= new Script("globalThis[Symbol.for('sluice.bounded')]()", { filename: 'bounded' });
  const outer = holder[KEY];
  holder[KEY] = work;
  try {
    return script.runInThisContext({ timeout: ms }) as T;
  } finally {
    holder[KEY] = outer;
  }
}

/** Awaits a promise with a time limit. @returns its value. @throws its rejection; Error ERR_LOAD_TIMEOUT when it takes longer. */
export async function awaitBounded<T>(promise: PromiseLike<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const report = () => reject(Object.assign(new Error(`not finished after ${ms} ms`), { code: 'ERR_LOAD_TIMEOUT' }));
    timer = setTimeout(report, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
