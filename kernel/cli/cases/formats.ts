import { pathFromHere } from '../formats/format.ts';
import { annotation } from '../formats/github.ts';
import { findingsOf } from '../formats/report.ts';
import { junit } from './junit.ts';
import { isPassed, type PrintReport, positionOf, type TestReport } from './test-report.ts';
import { text } from './text.ts';

/** One JSON object, for programs. */
const json: PrintReport = (report) => {
  const { results, rejected, refusals, coverage, updated, ms } = report;
  const passed = results.filter(isPassed).length;
  const tests = results.map((result) => ({
    file: result.file.path,
    name: result.test.name,
    passed: isPassed(result),
    ms: Math.round(result.ms * 1000) / 1000,
    failures: result.failures.map(({ pointer, message, lines }) => ({
      pointer,
      ...place(result, pointer),
      message,
      differences: lines,
    })),
  }));
  const failed = results.length - passed;
  const errors = rejectedIssues(report);
  const counts = { passed, failed, rejected: rejected.length, ms: Math.round(ms), updated };
  return `${JSON.stringify({ valid: failed + rejected.length === 0, ...counts, tests, errors, refusals, coverage })}\n`;
};

function place(result: Parameters<typeof positionOf>[0], pointer: string): { line?: number; column?: number } {
  const position = positionOf(result, pointer);
  return position ? { line: position.line, column: position.column } : {};
}

function rejectedIssues({ rejected }: TestReport) {
  return rejected.flatMap(({ path, source, errors }) => findingsOf(path, source, errors).errors);
}

/** Annotations of GitHub workflows, one per line. */
const github: PrintReport = (report) => {
  const failed = report.results.flatMap((result) =>
    result.failures.map(({ pointer, message, lines }) => {
      const { path } = result.file;
      const issue = { severity: 'error', code: 'TEST_FAILED', pointer: '', namespace: 'core' } as const;
      const words = `${result.test.name}: ${[message, ...lines].join('\n')}`;
      return annotation(pathFromHere(path) ?? path, { ...issue, ...place(result, pointer), message: words });
    }),
  );
  const rejected = rejectedIssues(report).map((issue) => {
    const path = issue.file ?? '';
    return annotation(pathFromHere(path) ?? path, issue);
  });
  return [...failed, ...rejected].join('');
};

/** The formats of `test`, by name. */
export const testFormats: ReadonlyMap<string, PrintReport> = new Map(Object.entries({ text, json, junit, github }));
