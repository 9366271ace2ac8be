import { readdirSync } from 'node:fs';
import type fc from 'fast-check';
import { eventually } from '../eventually.ts';
import { kinds } from '../reload/configuration.ts';
import { Runs } from '../reload/runs.ts';
import { ofOneProcess, ofWorkers, type Step } from '../reload/steps.ts';
import { openSurroundings } from '../reload/surroundings.ts';
import { defineTarget, type OpenTarget, type Target } from '../target.ts';

const promises =
  'the last accepted configuration serves, no request is lost, limits and caches continue, and closing leaves nothing behind.';

/** Changes of the configuration and its files, concurrent activity, and failures of the system. */
export const reload = reloads('reload', `After every change ${promises}`, ofOneProcess, 0);

/** Like `reload`, but with two workers, which are killed at any moment. */
export const reloadWorkers = reloads('reload-workers', `Whichever worker dies, ${promises}`, ofWorkers, 2);

function reloads(name: string, law: string, inputs: fc.Arbitrary<readonly Step[]>, workers: number): Target {
  return defineTarget({
    name,
    law,
    boundMs: 5_000,
    rooms: ['kernel/control/', 'kernel/runtime/', 'kernel/workers/'],
    inputs,
    open: () => open(workers),
  });
}

async function open(workers: number): Promise<OpenTarget<readonly Step[]>> {
  const around = await openSurroundings(workers);
  const runs = new Runs(around);
  let isWarm = false;
  return {
    async accept(steps) {
      // The first input is run in advance: a process that serves for the first time opens resources that remain open,
      // and loads modules, which must not fail.
      if (!isWarm) await runs.alone(kinds.map((kind) => ({ act: 'save', kind, port: 1 })));
      isWarm = true;
      // A gateway with workers serves several inputs, because the start of workers takes most of the time.
      if (workers > 0) return runs.take(steps);
      const before = openThings();
      await runs.alone(steps);
      await eventually(
        () => openThings() <= before,
        () => `leaves ${openThings() - before} descriptors`,
      );
    },
    async close() {
      await runs.close();
      around.close();
    },
  };
}

/** Number of open descriptors of this process. */
function openThings(): number {
  return readdirSync('/proc/self/fd').length;
}
