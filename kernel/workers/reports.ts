import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Held } from '../containment/watchdog.ts';
import type { WorkerSettings } from './messages.ts';
import { boundInArguments } from './young-generation.ts';

/** File descriptor of a worker for reports that it cannot send as messages while its event loop is blocked. */
const REPORTS = 4;

/** Starts all later workers with a descriptor for reports, in addition to the channel for everything else. */
export function setUpWorkers(program: string, args: readonly string[], settings: WorkerSettings): void {
  const ofEach: WorkerSettings = { ...settings, reports: REPORTS };
  cluster.setupPrimary({
    exec: program,
    execArgv: [...boundInArguments(), ...process.execArgv],
    args: [...args, JSON.stringify(ofEach)],
    serialization: 'advanced',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
}

/** Reads the reports of a worker's watchdog as long as the worker lives. */
export function readReports(worker: Worker, onHeld: (held: Held) => void): void {
  const line = worker.process.stdio?.[REPORTS] as Readable | null | undefined;
  if (!line) return;
  line.on('error', () => {});
  createInterface({ input: line }).on('line', (text) => {
    try {
      onHeld(JSON.parse(text) as Held);
    } catch {
      // Ignored: an incomplete line of a worker that was killed.
    }
  });
}
