import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { createGateway, type GatewayOptions } from '../../../kernel/sluice.ts';
import '../../../test/support/compile-cache.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { bundledProgram } from '../../../test/support/programs.ts';
import { eventually } from '../eventually.ts';

const program = bundledProgram();

/** The real functions are copied, because those of `node:fs` may be failing. */
const [write, list, remove] = [writeFileSync, readdirSync, rmSync];

/** Time until every worker serves again after a kill, in milliseconds: the longest pause before a restart, and a start. */
const CONVERGED_MS = 15_000;

/** A gateway with its files. */
export interface RunningGateway {
  readonly operations: Operations;
  readonly folder: string;
  readonly file: string;
  save(text: string): void;
  /** Process ids of the workers; 0 for one without a process. */
  readonly pids: readonly number[];
  /** Waits until every process serves. @param killed process ids of workers that have been killed. */
  converged(killed: ReadonlySet<number>): Promise<void>;
  /** @throws Error when a line of the log, or a counter, reports an internal error. */
  mustBeSound(): void;
  /** Closes the gateway. @throws Error when its files are not in the expected state. */
  close(): Promise<void>;
  /** Removes the gateway's files. */
  remove(): void;
}

/** Lines of the log that no failure of the system explains. */
const faulty = /internal error|GatewayFault|TypeError|ReferenceError|RangeError|\n\s+at /;

/** @param workers 0 to serve in this process. @param prepare creates files before the start. */
export async function startGateway(workers: number, prepare: (folder: string) => string): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
  const file = join(folder, 'gateway.json');
  const history = join(folder, 'history');
  write(file, prepare(folder));
  const lines: string[] = [];
  const sink = { terminal: false, lost: 0, write: (line: string) => void lines.push(line) };
  const options: GatewayOptions = {
    sinks: { ...silentSinks, stdout: sink, stderr: sink },
    revisionDirectory: history,
    ...(workers > 0 && { workers: { count: workers, program, args: [] } }),
  };
  // The start is retried once, because workers may start late on a busy machine.
  const start = (): Promise<Operations> => createGateway(file, options) as Promise<Operations>;
  const operations = await start().catch(start);
  const { processes, internalErrors } = operations;
  await operations.listen();
  // Waits for the history, because the first revision is recorded while the gateway already serves.
  await eventually(
    () => operations.revisions.list().length > 0,
    () => 'the first revision is not recorded',
  );
  const mustBeSound = (): void => {
    const line = lines.find((each) => faulty.test(each));
    if (line !== undefined) throw new Error(`the log has: ${line}`);
    const [counted] = internalErrors.counts;
    if (counted !== undefined) throw new Error(`counted as internal errors: ${JSON.stringify(counted)}`);
  };
  return {
    operations,
    folder,
    file,
    save: (text) => write(file, text),
    get pids() {
      return processes.workers.map(({ pid }) => pid ?? 0);
    },
    converged: (killed) =>
      eventually(
        () => processes.converged && !processes.workers.some(({ pid }) => killed.has(pid!)),
        () => `not all workers serve revision ${operations.status.revision}: ${JSON.stringify(processes.workers)}`,
        CONVERGED_MS,
      ),
    mustBeSound,
    async close() {
      await operations.close();
      mustBeSound();
      const strange = list(history).filter((name) => !/^\d{8}\.json$/.test(name));
      if (strange.length > 0) throw new Error(`the history keeps ${strange.join(', ')}`);
    },
    remove: () => remove(folder, { recursive: true, force: true }),
  };
}
