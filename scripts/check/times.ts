import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Durations of a test file, including loading it, in milliseconds. */
export interface FileTime {
  readonly file: string;
  readonly wallMs: number;
  /** Processor time of the process that ran the test file. */
  readonly ownMs: number;
  /** Processor time of ended child processes of that process; 0 where the system does not report it. */
  readonly childrenMs: number;
}

/** Measures test files, each in the process that runs it (`test/support/file-times.ts`). */
export function measureFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-times-'));
  const record = join(folder, 'times.jsonl');
  return {
    /** Environment variables for the processes that run the tests. */
    env: { SLUICE_TEST_TIMES: record },
    /** The times of all files that have ended, the longest first. */
    end(): FileTime[] {
      const times = linesOf(record).map((line): FileTime => JSON.parse(line));
      rmSync(folder, { recursive: true });
      return times
        .map((time) => ({ ...time, file: relative(process.cwd(), time.file) }))
        .sort((a, b) => b.wallMs - a.wallMs);
    },
    /** A line for each file, in seconds. */
    table(times: readonly FileTime[]): string {
      const row = (...cells: readonly string[]) => cells.map((cell) => cell.padStart(9)).join('');
      const seconds = (ms: number) => (ms / 1000).toFixed(1);
      return [
        `${row('seconds', 'own CPU', 'children')}  file`,
        ...times.map(
          ({ file, wallMs, ownMs, childrenMs }) =>
            `${row(seconds(wallMs), seconds(ownMs), seconds(childrenMs))}  ${file}`,
        ),
      ].join('\n');
    },
  };
}

/** The record is missing if no test file could be loaded. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}
