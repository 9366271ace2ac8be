import { Script } from 'node:vm';

/** Under this name the function to be run is found by the script that a timeout can stop. */
const KEY = Symbol.for('sluice.bounded');
const holder = globalThis as unknown as Record<symbol, (() => unknown) | undefined>;
let script: Script | undefined;

/**
 * Calls a function, and stops it when it does not come back: an endless loop too.
 * @param ms longest time until it returns.
 * @throws what it throws; Error ERR_SCRIPT_EXECUTION_TIMEOUT when it was stopped.
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

/** @returns what a promise settles with. @throws what it rejects with; Error ERR_LOAD_TIMEOUT when it takes longer. */
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
