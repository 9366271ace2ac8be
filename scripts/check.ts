import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

/**
 * Runs everything that `npm test` and continuous integration check: types, lint, the table of the specification and
 * every test, all of them even when an early one fails. Test files run in parallel, in as many processes as there are
 * processors. Ends with the line `N passed, N failed`, to which `, N skipped` is added when tests were skipped.
 */
const testFiles = 'test/**/*.test.ts';

/**
 * Time limit of a run, in minutes; a longer one is terminated and fails, because a test left something open. Six times
 * the duration on an otherwise idle machine with two processors.
 */
const LIMIT_MINUTES = 60;

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly output: readonly string[];
}

function run(name: string, command: string, args: readonly string[], shown: boolean): Promise<Result> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MINUTES * 60_000,
      killSignal: 'SIGKILL',
    });
    const output: string[] = [];
    const collect = (line: string) => {
      output.push(line);
      if (shown) console.log(line);
    };
    createInterface({ input: child.stdout }).on('line', collect);
    createInterface({ input: child.stderr }).on('line', collect);
    child.once('error', (error) => resolve({ name, ok: false, output: [...output, String(error)] }));
    child.once('exit', (_code, signal) => {
      if (signal !== 'SIGKILL') return;
      collect(`${name} did not end within ${LIMIT_MINUTES} minutes`);
      // Processes that it started may still run and would keep these open.
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.once('close', (code) => resolve({ name, ok: code === 0, output }));
  });
}

function countOf(kind: string, output: readonly string[]): number {
  const line = output.findLast((text) => new RegExp(`^\\s+\\d+ ${kind}`).test(text));
  return line === undefined ? 0 : Number(/\d+/.exec(line)![0]);
}

const checks = await Promise.all([
  run('types', 'tsc', ['--noEmit'], false),
  run('lint', 'biome', ['check', '--error-on-warnings', '.'], false),
  run('specification', process.execPath, ['scripts/coverage.ts', '--check'], false),
]);
for (const { name, ok, output } of checks) {
  console.log(`${ok ? 'ok' : 'FAILED'}  ${name}`);
  if (!ok) console.log(output.join('\n'));
}
const tests = await run('tests', 'mocha', ['--parallel', '--jobs', String(availableParallelism()), testFiles], true);

const checksFailed = checks.filter(({ ok }) => !ok).length;
const failing = countOf('failing', tests.output);
const passed = countOf('passing', tests.output) + checks.length - checksFailed;
const failed = failing + checksFailed + (!tests.ok && failing === 0 ? 1 : 0);
const skipped = countOf('pending', tests.output);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
