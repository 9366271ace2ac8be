import { join } from 'node:path';
import { type Child, start, within } from './children.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { findProgram } from './programs.ts';
import { readWrkReport } from './wrk.ts';

/** Generates load on one address and reports the responses. */
export interface Generator {
  readonly name: string;
  run(order: LoadOrder): Promise<LoadReport>;
  /** Stops the processes that the generator started. */
  close(): Promise<void>;
}

/** Maximum time of a run beyond its duration, in milliseconds. */
const OVERTIME_MS = 15_000;
const LOAD_FILE = join(import.meta.dirname, 'load.ts');

/**
 * Uses wrk if it is on PATH, otherwise the built-in generator.
 * @param seconds wrk supports only whole seconds; for other values the built-in generator is used.
 * @param folder for the outputs of the generator.
 */
export function chooseGenerator(seconds: number, folder: string): Generator {
  const wrk = Number.isInteger(seconds) ? findProgram('wrk') : undefined;
  return wrk === undefined ? builtIn(folder) : withWrk(wrk, folder, builtIn(folder));
}

/** The built-in generator, which supports any duration, changing headers and a fixed rate. */
export function builtIn(folder: string): Generator {
  let child: Child | undefined;
  return {
    name: 'built-in',
    run(order) {
      child ??= start([process.execPath, LOAD_FILE], join(folder, 'load.log'), { ipc: true });
      return child.message<LoadReport>(order.seconds * 1000 + OVERTIME_MS, { ...order });
    },
    async close() {
      await child?.stop();
      child = undefined;
    },
  };
}

/** @param other generator for what wrk does not support: changing headers or paths, bodies, a rate, a status. */
function withWrk(file: string, folder: string, other: Generator): Generator {
  return {
    name: 'wrk',
    async run(order) {
      const { headersFile, rate, paths, status, bodyLength } = order;
      if ([headersFile, rate, paths, status, bodyLength].some((own) => own !== undefined)) return other.run(order);
      const { url, connections, seconds } = order;
      const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '5s', '--latency'];
      const child = start([file, ...flags, url], join(folder, 'load.log'));
      try {
        await within(child.ended, seconds * 1000 + OVERTIME_MS, 'wrk did not end');
        return readWrkReport(child.output());
      } finally {
        await child.stop();
      }
    },
    close: () => other.close(),
  };
}
