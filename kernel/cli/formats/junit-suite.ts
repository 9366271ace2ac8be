import { escaped, quoted } from './xml.ts';

/** A test case of a report, with its failures. */
export interface JunitCase {
  readonly name: string;
  readonly failures: readonly { readonly message: string; readonly details: string }[];
}

/** Report of one file. */
export interface JunitSuite {
  readonly file: string;
  /** Failed cases. */
  readonly failed: readonly JunitCase[];
  /** Name of a single passed case for everything that did not fail; null to omit it. */
  readonly passed: string | null;
  /** Duration, in milliseconds. */
  readonly ms?: number;
}

/** Prints a report of one file as JUnit XML. */
export function printJunit({ file, failed, passed, ms }: JunitSuite): string {
  const tests = failed.length + (passed === null ? 0 : 1);
  const time = ms === undefined ? '' : ` time="${(ms / 1000).toFixed(3)}"`;
  const counts = `tests="${tests}" failures="${failed.length}" errors="0"${time}`;
  const cases = failed.flatMap(({ name, failures }) => [
    `    <testcase name=${quoted(name)} classname=${quoted(file)}>`,
    ...failures.map(({ message, details }) => {
      return `      <failure message=${quoted(message)}>${escaped(details)}</failure>`;
    }),
    '    </testcase>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sluice" ${counts}>`,
    `  <testsuite name=${quoted(file)} ${counts}>`,
    ...cases,
    ...(passed === null ? [] : [`    <testcase name=${quoted(passed)} classname=${quoted(file)}/>`]),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
