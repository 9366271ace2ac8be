import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { longestFirst, recordLong } from './check/order.ts';
import { type Result, run } from './check/processes.ts';
import { measureFiles } from './check/times.ts';

/**
 * Runs everything that `npm test` and continuous integration check: types, lint, the table of the specification and
 * every test, all of them even when an early one fails. Ends with the line `N passed, N failed`, to which `, N skipped`
 * is added when tests were skipped. `--slowest N` prints the N files that took longest, with their processor time, and
 * `--record` writes the order of the files for the next runs if every test passes.
 */
const { slowest, record } = parseArgs({
  options: { slowest: { type: 'string', default: '0' }, record: { type: 'boolean', default: false } },
}).values;

/** Processes for test files: two more than processors, because many tests wait most of their time. */
const jobs = availableParallelism() + 2;

/**
 * Space for new objects, in MiB. With the default, which begins with 1 and grows to 16, the processes of tests spend a
 * tenth of their time on copying objects. The maximum alone has no effect, as the space hardly grows.
 */
const newSpace = ['--min-semi-space-size=32', '--max-semi-space-size=128'];

/** Runs every test file in one of several processes, which share the programs and the compiled code that are made first. */
async function runTests(env: Readonly<Record<string, string>>): Promise<Result> {
  // If the build fails, the tests that start the built programs also fail. It runs in a process of its own, whose end
  // frees the memory of the bundler.
  await run('programs', process.execPath, ['test/support/prepare.ts'], false);
  const mocha = [
    ...newSpace,
    'node_modules/mocha/bin/mocha.js',
    '--parallel',
    '--jobs',
    String(jobs),
    ...longestFirst(),
  ];
  return run('tests', process.execPath, mocha, true, env);
}

/** Runs the checks one after another while the tests run, which leave processors idle now and then. */
async function runChecks(): Promise<readonly Result[]> {
  const { execPath } = process;
  const results: Result[] = [];
  for (const [name, command, ...args] of [
    ['types', execPath, 'scripts/types.ts'],
    ['lint', 'biome', 'check', '--error-on-warnings', '.'],
    ['specification', execPath, 'scripts/coverage.ts', '--check'],
  ] as const) {
    const result = await run(name, command, args, false);
    console.log([`${result.ok ? 'ok' : 'FAILED'}  ${name}`, ...(result.ok ? [] : result.output)].join('\n'));
    results.push(result);
  }
  return results;
}

function countOf(kind: string, output: readonly string[]): number {
  const line = output.findLast((text) => new RegExp(`^\\s+\\d+ ${kind}`).test(text));
  return line === undefined ? 0 : Number(/\d+/.exec(line)![0]);
}

const measured = measureFiles();
const [checks, tests] = await Promise.all([runChecks(), runTests(measured.env)]);

const files = measured.end();
// After an incomplete run, files without a time would be removed from the record.
if (record && tests.ok) recordLong(files);
if (Number(slowest) > 0) console.log(measured.table(files.slice(0, Number(slowest))));
const unsuccessful = checks.filter(({ ok }) => !ok);
if (unsuccessful.length > 0) console.log(`FAILED  ${unsuccessful.map(({ name }) => name).join(', ')}, printed above`);
const failing = countOf('failing', tests.output);
const passed = countOf('passing', tests.output) + checks.length - unsuccessful.length;
const failed = failing + unsuccessful.length + (!tests.ok && failing === 0 ? 1 : 0);
const skipped = countOf('pending', tests.output);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
