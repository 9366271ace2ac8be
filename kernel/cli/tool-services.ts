import type { Services } from '#contract';
import { DeniedAddresses, silentEvents, silentLog, silentSinks } from '../contract/internal.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { version } from '../version.ts';

/** The kernel's services for a command that serves nothing: its output is the result alone, so nothing is logged. */
export function toolServices(): Services {
  return {
    clock: { now: () => performance.now() },
    log: silentLog,
    sinks: silentSinks,
    events: silentEvents,
    patterns: createPatterns(),
    denied: new DeniedAddresses(),
    version,
  };
}
