import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import type { Tried } from '../../scripts/mutate/collector.ts';
import { readEquivalents } from '../../scripts/mutate/equivalents.ts';
import { passedTests, passTests, testsOf } from '../../scripts/mutate/rooms.ts';
import { summaryOf } from '../../scripts/mutate/summary.ts';

describe('mutation testing', () => {
  const place = { file: 'kernel/clamp.ts', line: 'return value > 9 ? 9 : value;' };
  const fault = (status: Tried['status'], replacement = 'value >= 9'): Tried => ({
    id: '1',
    fileName: place.file,
    line: place.line,
    location: { start: { line: 2, column: 10 }, end: { line: 2, column: 19 } },
    mutatorName: 'EqualityOperator',
    replacement,
    status,
  });
  const named = { ...place, replacement: 'value >= 9', reason: 'Both give 9 for 9.' };

  it('counts mutations by file, with the share that tests detect', () => {
    const faults = (['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage'] as const).map((status) => fault(status));
    const [row] = summaryOf(faults, []).split('\n').slice(-1);
    match(row!, /^all +2 +1 +1 +1 +0 +60\.0 %$/);
  });

  it('shows undetected mutations with their place', () => {
    equal(
      summaryOf([fault('Killed'), fault('Survived')], []).split('\n\n')[0],
      'kernel/clamp.ts:2:10 survived\n    - return value > 9 ? 9 : value;\n    + value >= 9',
    );
  });

  it('accepts undetected mutations that are listed as having no effect', () => {
    const summary = summaryOf([fault('Survived'), fault('Survived', 'false'), fault('Killed')], [named]);
    deepEqual([summary.includes('+ value >= 9'), summary.includes('+ false')], [false, true]);
    match(summary, /^all +1 +0 +1 +0 +1 +50\.0 %$/m);
  });

  it('reports a listed mutation that a test detects', () => {
    match(summaryOf([fault('Killed')], [named]), /^all +1 +0 +0 +0 +0 +100\.0 %$/m);
  });

  it('detects mutations of the smallest folder of the kernel with its tests', () => {
    ok(testsOf('kernel/pipeline/response/merge.ts').includes('test/kernel/pipeline/**/*.test.ts'));
    ok(testsOf('kernel/config/diff').includes('test/kernel/config/diff/**/*.test.ts'));
    throws(() => testsOf('nowhere/at/all.ts'), /no tests in test\/nowhere/);
  });

  it('passes the given tests to its processes, including braces in patterns', () => {
    passTests(['test/{a,b}.test.ts', 'test/c.test.ts']);
    deepEqual(passedTests(), ['test/{a,b}.test.ts', 'test/c.test.ts']);
  });

  it('uses only existing tests', () => {
    for (const room of ['contract', 'pipeline', 'server', 'control', 'workers']) {
      for (const glob of testsOf(`kernel/${room}`)) ok(globSync(glob).length > 0, glob);
    }
  });

  it('has a list of mutations without effect, which quotes existing lines and gives a reason for each', () => {
    for (const { file, line, reason } of readEquivalents()) {
      const lines = readFileSync(file, 'utf8').split('\n');
      ok(lines.some((text) => text.trim() === line) && reason.endsWith('.'), `${file}: ${line}`);
    }
  });
});
