import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Held } from '../containment/watchdog.ts';
import type { WorkerSettings } from './messages.ts';

/** Descriptor, in a worker, of the line for what its event loop cannot say since it stands still. */
const REPORTS = 4;

/** From now on workers are started with that line, beside the one over which all else is told. */
export function setUpWorkers(program: string, args: readonly string[], settings: WorkerSettings): void {
  const ofEach: WorkerSettings = { ...settings, reports: REPORTS };
  cluster.setupPrimary({
    exec: program,
    execArgv: [...youngGeneration(), ...process.execArgv],
    args: [...args, JSON.stringify(ofEach)],
    serialization: 'advanced',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
}

/**
 * Room for new objects, in MiB, from which on it grows no more. What a request makes is garbage when it is over: V8's own bound,
 * four times as much, makes a process 50 MiB larger and saves it no work. Whoever sets one has that one.
 */
function youngGeneration(): readonly string[] {
  const isSet = /--m(?:in|ax)[-_]semi[-_]space[-_]size/.test(process.env['NODE_OPTIONS'] ?? '');
  return isSet ? [] : ['--max-semi-space-size=8'];
}

/** Reads what the watchdog of a worker reports, for as long as the worker lives. */
export function readReports(worker: Worker, onHeld: (held: Held) => void): void {
  const line = worker.process.stdio?.[REPORTS] as Readable | null | undefined;
  if (!line) return;
  line.on('error', () => {});
  createInterface({ input: line }).on('line', (text) => {
    try {
      onHeld(JSON.parse(text) as Held);
    } catch {
      // Half a line of a worker that was ended.
    }
  });
}
