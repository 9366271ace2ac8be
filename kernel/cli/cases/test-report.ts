import type { RejectedFile, SuiteResult, TestFile, TestResult } from '../../cases/index.ts';
import type { Terminal } from '../terminal.ts';

/** Everything that a run of tests reports. */
export interface TestReport extends SuiteResult {
  readonly files: readonly TestFile[];
  /** Files that could not be used, whose tests count as failed. */
  readonly rejected: readonly RejectedFile[];
  /** Number of expectations written by `--update`; null without it. */
  readonly updated: number | null;
  /** Whether to list endpoints and components that no test reaches. */
  readonly listsUntested: boolean;
}

/** An output format for test results. */
export type PrintReport = (report: TestReport, terminal: Terminal) => string;

/** Position of a failure, or of its test if the expectation is absent. */
export function positionOf({ file, test }: TestResult, pointer: string): { line: number; column: number } | undefined {
  return file.document.locate(pointer, 'key') ?? file.document.locate(test.pointer, 'value');
}

export function isPassed({ failures }: TestResult): boolean {
  return failures.length === 0;
}
