import { syncBuiltinESMExports } from 'node:module';
import { type Replace, wrapFiles } from './files.ts';
import { wrapNetwork } from './network.ts';
import { Failures, type Plan } from './plan.ts';
import { wrapProcess } from './process.ts';

/** Failures that are injected into this process. */
export interface Installed {
  readonly failures: Failures;
  /** Restores the original functions. */
  remove(): void;
}

/**
 * Wraps the modules of Node.js. A function that was copied out of its module earlier is not affected: for whole
 * processes, `preload.ts` runs before anything else.
 */
export async function installFailures(plan?: Plan): Promise<Installed> {
  const failures = new Failures();
  const before: (() => void)[] = [];
  const replace: Replace = (target, name, make) => {
    const known = Object.getOwnPropertyDescriptor(target, name);
    const original = (target as Record<string, (...given: unknown[]) => unknown>)[name]!;
    const made = make(original);
    // Copies the members of the function, such as `util.promisify.custom`.
    for (const key of Reflect.ownKeys(original)) {
      const own = Object.getOwnPropertyDescriptor(made, key);
      if (!own) Object.defineProperty(made, key, Object.getOwnPropertyDescriptor(original, key)!);
    }
    Object.defineProperty(target, name, {
      value: made,
      writable: true,
      configurable: true,
      enumerable: known?.enumerable ?? false,
    });
    before.push(() => {
      if (known) Object.defineProperty(target, name, known);
      else delete (target as Record<string, unknown>)[name];
    });
  };
  await wrapFiles(failures, replace);
  wrapNetwork(failures, replace);
  const end = wrapProcess(failures, replace);
  syncBuiltinESMExports();
  if (plan) failures.plan = plan;
  return {
    failures,
    remove() {
      end();
      for (const restore of before.reverse()) restore();
      syncBuiltinESMExports();
    },
  };
}
