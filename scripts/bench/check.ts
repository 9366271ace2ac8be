/**
 * `npm run bench:check`: fails if the gateway costs more, relative to the bare Node.js program, than when `expected.json`
 * was committed.
 *
 *   npm run bench:check [-- FILE] [--rounds 5] [--seconds 2]
 *
 * FILE is the JSON of a run (`npm run bench -- --json FILE`, with or without peers); without it, the benchmark is run.
 * Only ratios of CPU time are compared: unlike absolute figures, they are comparable between machines. `tolerance` is
 * wide, so that a failure indicates a regression and not a busy machine. Exit codes: 0 as expected, 1 not, 2 without a
 * run to compare.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareRatios, type Expected, ratiosOf } from './ratios.ts';

const EXPECTED_FILE = join(import.meta.dirname, 'expected.json');
const BENCH_FILE = join(import.meta.dirname, 'index.ts');

function main(): number {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { ...text, default: '5' }, seconds: { ...text, default: '2' } },
  });
  const expected = JSON.parse(readFileSync(EXPECTED_FILE, 'utf8')) as Expected;
  const run = readRun(positionals[0], ['--rounds', values.rounds, '--seconds', values.seconds], expected);
  const verdicts = compareRatios(ratiosOf(run), expected);
  for (const { text } of verdicts) console.log(text);
  return verdicts.every(({ isRight }) => isRight) ? 0 : 1;
}

function readRun(file: string | undefined, options: readonly string[], expected: Expected): unknown {
  if (file !== undefined) return JSON.parse(readFileSync(file, 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'bench-check-'));
  try {
    const json = join(folder, 'run.json');
    const names = Object.keys(expected.ratios).join();
    const { status } = spawnSync(process.execPath, [BENCH_FILE, '--scenario', names, ...options, '--json', json], {
      stdio: 'inherit',
    });
    // Exit code 1 is accepted: it means that a scenario has no results, which the line of the scenario reports.
    if (status !== 0 && status !== 1) throw new Error('the benchmark failed');
    return JSON.parse(readFileSync(json, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  process.exitCode = main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
