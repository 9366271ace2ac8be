import type { Coverage, TestFile, TestResult } from '../../cases/index.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { isColoured, type Terminal } from '../terminal.ts';
import { isPassed, type PrintReport, positionOf, type TestReport } from './test-report.ts';

/** Maximum number of untested endpoints and components that the summary names without `--coverage`. */
const MAX_NAMED = 5;

type Paint = (code: number, text: string) => string;

/** Prints results for people: a line for each file, the failed tests with their differences, and a summary. */
export const text: PrintReport = (report, terminal) => {
  const paint = painter(terminal);
  const byFile = Map.groupBy(report.results, ({ file }) => file);
  const lines = report.files.flatMap((file) => linesOfFile(file, byFile.get(file) ?? [], paint));
  for (const { path } of report.rejected) lines.push(`${paint(31, 'rejected')}  ${printable(path)}`);
  return `${[...lines, ...summary(report, paint)].join('\n')}\n`;
};

function painter(terminal: Terminal): Paint {
  const isOn = isColoured(terminal.stdout, terminal);
  return (code, content) => (isOn ? `\x1b[${code}m${content}\x1b[0m` : content);
}

function linesOfFile({ path }: TestFile, results: readonly TestResult[], paint: Paint): string[] {
  if (results.length === 0) return [];
  const failed = results.filter((result) => !isPassed(result));
  const count = counted(results.length, 'test');
  const state = failed.length === 0 ? paint(32, 'passed') : paint(31, 'failed');
  const head = `${state}  ${printable(path)}  ${failed.length === 0 ? count : `${failed.length} of ${count}`}`;
  return [head, ...failed.flatMap((result) => linesOfTest(result, paint))];
}

function linesOfTest(result: TestResult, paint: Paint): string[] {
  const { file, test, failures, lines } = result;
  const details = failures.flatMap(({ pointer, message, lines: differences }) => {
    const position = positionOf(result, pointer);
    const place = position ? `  ${file.path}:${position.line}:${position.column}` : '';
    return [`    ${printable(message)}${printable(place)}`, ...differences.map((line) => difference(line, paint))];
  });
  const logged = lines.map((line) => `    log  ${printable(line)}`);
  return [`  ${paint(31, '✘')} ${printable(test.name)}`, ...details, ...logged];
}

function difference(line: string, paint: Paint): string {
  const shown = `      ${printable(line)}`;
  if (line.startsWith('-')) return paint(31, shown);
  return line.startsWith('+') ? paint(32, shown) : shown;
}

function summary(
  { results, rejected, refusals, coverage, updated, listsUntested, ms }: TestReport,
  paint: Paint,
): string[] {
  const passed = results.filter(isPassed).length;
  const failed = results.length - passed;
  const counts = [`${passed} passed`];
  if (failed > 0) counts.push(paint(31, `${failed} failed`));
  if (rejected.length > 0) counts.push(paint(31, `${counted(rejected.length, 'file')} rejected`));
  const lines = ['', `${counts.join(', ')} in ${Math.round(ms)} ms`];
  if (updated !== null) lines.push(`${counted(updated, 'expectation')} updated`);
  for (const refusal of refusals) lines.push(printable(`not reached: ${refusal}`));
  return coverage ? [...lines, ...coverageLines(coverage, listsUntested)] : lines;
}

function coverageLines({ endpoints, components }: Coverage, isComplete: boolean): string[] {
  return [untested('endpoint', endpoints, isComplete), untested('component', components, isComplete)].flat();
}

function untested(name: string, { all, untested: missed }: Coverage['endpoints'], isComplete: boolean): string[] {
  const total = counted(all.length, name);
  if (missed.length === 0) return all.length === 0 ? [] : [`all ${total} have a test`];
  const head = `${missed.length} of ${total} ${missed.length === 1 ? 'has' : 'have'} no test`;
  if (isComplete) return [`${head}:`, ...missed.map((each) => `  ${printable(each)}`)];
  const shown = missed.slice(0, MAX_NAMED).map(printable).join(', ');
  return [`${head}: ${shown}${missed.length > MAX_NAMED ? ', … (--coverage lists all)' : ''}`];
}
