import { readdirSync } from 'node:fs';
import type fc from 'fast-check';
import { eventually } from '../eventually.ts';
import { writePlugin, written } from '../reload/configuration.ts';
import { startGateway } from '../reload/gateway.ts';
import { Model } from '../reload/model.ts';
import { ofOneProcess, ofWorkers, type Step } from '../reload/steps.ts';
import { openSurroundings, type Surroundings } from '../reload/surroundings.ts';
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
  let isWarm = false;
  return {
    async accept(steps) {
      // A process that serves for the first time opens resources that remain open, so one run precedes the measurement.
      if (!isWarm && workers === 0) await runSteps([{ act: 'save', kind: 'plugged', port: 1 }], around);
      isWarm = true;
      const before = openThings();
      await runSteps(steps, around);
      await eventually(
        () => openThings() <= before,
        () => `leaves ${openThings() - before} descriptors`,
      );
    },
    async close() {
      around.close();
    },
  };
}

/** Runs steps on a new gateway. @throws Error when it breaks a promise. */
async function runSteps(steps: readonly Step[], around: Surroundings): Promise<void> {
  const { workers, ports, backend, system, kills } = around;
  let first = '';
  const gateway = await startGateway(workers, (folder) => {
    writePlugin(folder, true);
    first = written({ mark: 'start', kind: 'plain', port: ports[0]!, host: backend.host, folder });
    return first;
  });
  try {
    const model = new Model(gateway, first, around);
    for (const [at, step] of steps.entries()) await model.take(step, at);
    await model.end();
    // A worker may be killed while the gateway closes.
    const last = steps.at(-1);
    if (last?.act === 'arm') kills.arm(last.kill);
    await gateway.close();
  } finally {
    system.follow('nothing fails');
    backend.release();
    await gateway.operations.close();
    kills.disarm();
    gateway.remove();
  }
}

/** Number of open descriptors of this process. */
function openThings(): number {
  return readdirSync('/proc/self/fd').length;
}
