import type { TestResult } from '../../cases/index.ts';
import { escaped, quoted } from '../formats/xml.ts';
import { isPassed, type PrintReport, positionOf } from './test-report.ts';

/** JUnit XML: one suite for each file. */
export const junit: PrintReport = ({ results, files, rejected, ms }) => {
  const byFile = Map.groupBy(results, ({ file }) => file);
  const failures = results.filter((result) => !isPassed(result)).length;
  const counts = `tests="${results.length + rejected.length}" failures="${failures}" errors="${rejected.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sluice" ${counts} time="${seconds(ms)}">`,
    ...files.flatMap((file) => suite(file.path, byFile.get(file) ?? [])),
    ...rejected.flatMap(({ path, errors }) => {
      const messages = errors.map(({ message }) => message).join('\n');
      const error = `    <testcase name="is valid" classname=${quoted(path)}><error>${escaped(messages)}</error></testcase>`;
      return [`  <testsuite name=${quoted(path)} tests="1" failures="0" errors="1">`, error, '  </testsuite>'];
    }),
    '</testsuites>',
    '',
  ].join('\n');
};

function suite(path: string, results: readonly TestResult[]): string[] {
  if (results.length === 0) return [];
  const failures = results.filter((result) => !isPassed(result)).length;
  const total = results.reduce((sum, { ms }) => sum + ms, 0);
  const counts = `tests="${results.length}" failures="${failures}" errors="0" time="${seconds(total)}"`;
  return [`  <testsuite name=${quoted(path)} ${counts}>`, ...results.flatMap(testCase), '  </testsuite>'];
}

function testCase(result: TestResult): string[] {
  const { file, test, failures, ms, lines } = result;
  const position = positionOf(result, test.pointer);
  const line = position ? ` line="${position.line}"` : '';
  const head = `    <testcase name=${quoted(test.name)} classname=${quoted(file.path)} file=${quoted(file.path)}${line} time="${seconds(ms)}"`;
  if (isPassed(result)) return [`${head}/>`];
  const details = failures.map(({ message, lines: differences }) => {
    const body = escaped([message, ...differences].join('\n'));
    return `      <failure message=${quoted(message)}>${body}</failure>`;
  });
  const logged = lines.length > 0 ? [`      <system-err>${escaped(lines.join('\n'))}</system-err>`] : [];
  return [`${head}>`, ...details, ...logged, '    </testcase>'];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
