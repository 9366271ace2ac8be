import { globSync } from 'node:fs';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import Mocha from 'mocha';
import { passedTests } from './rooms.ts';

/** Timeout of one test, in milliseconds: detects faults that make it wait forever. */
const TEST_MS = 5_000;

/** State that the instrumented files read. */
const context: InstrumenterContext = {};
Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: context });

/** Runs tests with Mocha in this process, repeatedly: the files are loaded once, and faults are activated by id. */
class MochaRunner implements TestRunner {
  static inject = tokens();
  #mocha: Mocha | null = null;
  #results: TestResult[] = [];

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<DryRunResult> {
    const result = await this.#run(null, true);
    if (result.status !== DryRunStatus.Complete) return result;
    return { ...result, tests: result.tests.filter(passes), mutantCoverage: context.mutantCoverage! };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, hitLimit, mutantActivation, disableBail } = options;
    context.hitLimit = hitLimit;
    context.hitCount = hitLimit === undefined ? undefined : 0;
    if (mutantActivation === 'static') context.activeMutant = activeMutant.id;
    await this.#load();
    context.activeMutant = activeMutant.id;
    return toMutantRunResult(await this.#run(testFilter ?? null, disableBail));
  }

  /** @param wanted titles of the tests to run; null for all. */
  async #run(wanted: readonly string[] | null, disableBail: boolean): Promise<DryRunResult> {
    try {
      const mocha = await this.#load();
      const titles = new Set(wanted);
      mocha.grep(Object.assign(/./, { test: (title: string) => wanted === null || titles.has(title) }));
      setBail(mocha.suite, !disableBail);
      this.#results = [];
      await new Promise<void>((resolve) => {
        mocha.run(() => resolve());
      });
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: String((error as Error).stack) };
    }
    const looped = determineHitLimitReached(context.hitCount, context.hitLimit);
    return looped ?? { status: DryRunStatus.Complete, tests: this.#results };
  }

  async #load(): Promise<Mocha> {
    if (this.#mocha) return this.#mocha;
    const report = (result: TestResult) => void this.#results.push(result);
    const mocha = new Mocha({ reporter: reporterTo(report) as never, timeout: TEST_MS });
    mocha.cleanReferencesAfterRun(false);
    for (const file of globSync(passedTests())) mocha.addFile(file);
    await mocha.loadFilesAsync();
    this.#mocha = mocha;
    return mocha;
  }
}

/** Reports Mocha's results; also records which test the running code belongs to. */
function reporterTo(report: (result: TestResult) => void) {
  return class {
    constructor(runner: Mocha.Runner) {
      const own = (test: Mocha.Runnable) => ({
        id: test.fullTitle(),
        name: test.fullTitle(),
        timeSpentMs: test.duration ?? 0,
        ...(test.file !== undefined && { fileName: test.file }),
      });
      // Code that is run by the hooks of a suite is attributed to the first test of the suite.
      runner.on('suite', (suite) => {
        const first = firstTest(suite);
        if (first) context.currentTestId = first.fullTitle();
      });
      runner.on('test', (test) => {
        context.currentTestId = test.fullTitle();
      });
      runner.on('pass', (test) => report({ ...own(test), status: TestStatus.Success }));
      runner.on('pending', (test) => report({ ...own(test), status: TestStatus.Skipped }));
      runner.on('fail', (test, error) =>
        report({ ...own(test), status: TestStatus.Failed, failureMessage: String(error?.stack ?? error) }),
      );
    }
  };
}

/** A test that fails without a fault is ignored. */
function passes(test: TestResult): boolean {
  if (test.status !== TestStatus.Failed) return true;
  process.stderr.write(`omitted, because it fails without a fault: ${test.name}\n${test.failureMessage}\n`);
  return false;
}

function setBail(suite: Mocha.Suite, isBailing: boolean): void {
  suite.bail(isBailing);
  for (const inner of suite.suites) setBail(inner, isBailing);
}

function firstTest(suite: Mocha.Suite): Mocha.Test | undefined {
  return suite.tests[0] ?? suite.suites.map(firstTest).find((test) => test !== undefined);
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'mocha-again', MochaRunner)];
