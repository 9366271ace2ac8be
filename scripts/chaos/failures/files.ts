import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Failures, Operation } from './plan.ts';

type Callable = (...given: unknown[]) => unknown;

/** Functions of `node:fs` with the operations that they perform. Each exists with a callback, and most synchronously and with a promise. */
const functions: Readonly<Record<string, readonly Operation[]>> = {
  open: ['open'],
  readFile: ['open', 'read'],
  writeFile: ['open', 'write'],
  appendFile: ['open', 'write'],
  read: ['read'],
  write: ['write'],
  writev: ['write'],
  readdir: ['open'],
  opendir: ['open'],
  rename: ['rename'],
  fsync: ['sync'],
};

/** Methods of an open file. */
const methods: Readonly<Record<string, readonly Operation[]>> = {
  read: ['read'],
  readFile: ['read'],
  write: ['write'],
  writeFile: ['write'],
  appendFile: ['write'],
  sync: ['sync'],
  datasync: ['sync'],
};

/** Replaces a member and remembers the original, to restore it later. */
export type Replace = (target: object, name: string, make: (original: Callable) => Callable) => void;

/** Makes the functions of the file system fail as planned. */
export async function wrapFiles(failures: Failures, replace: Replace): Promise<void> {
  for (const [name, operations] of Object.entries(functions)) {
    const decide = (subject: unknown) => first(failures, operations, subject);
    if (name in fs) replace(fs, name, (original) => withCallback(original, decide));
    if (`${name}Sync` in fs) replace(fs, `${name}Sync`, (original) => synchronous(original, decide));
    if (name in fs.promises) replace(fs.promises, name, (original) => withPromise(original, decide));
  }
  const file = await fs.promises.open('/dev/null');
  const prototype = Object.getPrototypeOf(file) as object;
  await file.close();
  for (const [name, operations] of Object.entries(methods)) {
    replace(prototype, name, (original) => withPromise(original, () => first(failures, operations, 'an open file')));
  }
}

type Decide = (subject: unknown) => ReturnType<Failures['decide']>;

function first(failures: Failures, operations: readonly Operation[], subject: unknown): ReturnType<Decide> {
  for (const operation of operations) {
    const failing = failures.decide(operation, String(subject));
    if (failing) return failing;
  }
  return null;
}

function withCallback(original: Callable, decide: Decide): Callable {
  return function call(this: unknown, ...given) {
    const failing = decide(given[0]);
    const done = given.at(-1);
    if (!failing || typeof done !== 'function') return original.apply(this, given);
    setTimeout(() => (failing.error ? done(failing.error) : original.apply(this, given)), failing.delayMs);
    return undefined;
  };
}

function withPromise(original: Callable, decide: Decide): Callable {
  return async function call(this: unknown, ...given) {
    const failing = decide(given[0]);
    if (failing) {
      await pause(failing.delayMs);
      if (failing.error) throw failing.error;
    }
    return original.apply(this, given);
  };
}

/** Wraps a synchronous function. A slow operation of it blocks the event loop. */
function synchronous(original: Callable, decide: Decide): Callable {
  return function call(this: unknown, ...given) {
    const failing = decide(given[0]);
    if (failing?.error) throw failing.error;
    if (failing) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, failing.delayMs);
    return original.apply(this, given);
  };
}
