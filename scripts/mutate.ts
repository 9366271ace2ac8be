// Mutation testing: introduces small faults into a folder, or one file of it, and reports those that no test detects:
// `npm run mutate -- kernel/pipeline [--minutes 20] [--tests GLOB]... [--static]`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LogLevel } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { tried } from './mutate/collector.ts';
import { readEquivalents } from './mutate/equivalents.ts';
import { passTests, testsOf } from './mutate/rooms.ts';
import { summaryOf } from './mutate/summary.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '20' },
    tests: { type: 'string', multiple: true },
    static: { type: 'boolean', default: false },
  },
});
const [path] = positionals;
if (path === undefined) throw new Error('please name a room, such as kernel/pipeline, or a file of one');

passTests(values.tests ?? testsOf(path));
const plugin = (name: string) => new URL(`./mutate/${name}.ts`, import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), 'sluice-mutate-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

function finish(words: string): void {
  console.log(`\n${summaryOf(tried, readEquivalents())}\n${words}`);
}

// An interrupted run reports the results that it has so far.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => finish('not all of them tried'));

const late = setTimeout(() => process.kill(process.pid, 'SIGTERM'), Number(values.minutes) * 60_000);

const stryker = new Stryker({
  mutate: [path.endsWith('.ts') ? path : `${path}/**/*.ts`],
  testRunner: 'mocha-again',
  plugins: ['mocha-runner', 'collector', 'spoken'].map(plugin),
  reporters: ['collect'],
  ignorers: ['spoken'],
  coverageAnalysis: 'perTest',
  // Faults in code that runs while a file is loaded need a process each, so they are only tested on request.
  ignoreStatic: !values.static,
  timeoutMS: 20_000,
  tempDirName: folder,
  ignorePatterns: ['.git', 'dist'],
  checkers: [],
  disableTypeChecks: true,
  logLevel: 'warn' as LogLevel,
});
await stryker.runMutationTest();
clearTimeout(late);
finish('');
