import type { Catalogue } from '#contract';
import type { Source } from '../control/snapshot.ts';
import type { SandboxOptions } from '../sandbox/open-sandbox.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import type { TestFile } from './read-tests.ts';
import { openTarget, type Target, type TestResult, targetAt } from './run-tests.ts';

/** The gateway that tests run against. */
export interface SuiteOptions extends SandboxOptions {
  readonly catalogue: Catalogue;
  /** Path or content of the configuration. */
  readonly source: Source;
  /** Address of a running gateway to send requests to; null to run the configuration in this process. */
  readonly against: URL | null;
}

/** Number of gateways that are open or opening at a time: one runs tests while the next ones read their files. */
const AHEAD = 4;

/** Result of all tests. */
export interface SuiteResult {
  readonly results: readonly TestResult[];
  /** Connections and requests that the gateway attempted on its own, and that were refused. */
  readonly refusals: readonly string[];
  /** Endpoints and components that the tests have reached; null for tests against an address. */
  readonly coverage: Coverage | null;
  readonly ms: number;
}

/**
 * Runs the tests of files in order. Each file has a gateway of its own, so that limits, caches and breakers of one file
 * do not affect another; specs of KrakenD share one, as in KrakenD.
 * @throws ConfigErrors if the configuration is not valid.
 */
export async function runSuite(files: readonly TestFile[], options: SuiteOptions): Promise<SuiteResult> {
  const startedAt = performance.now();
  const results: TestResult[] = [];
  const refusals = new Set<string>();
  let coverage: Coverage | null = null;
  const specs = files.filter(({ isSpec }) => isSpec);
  const groups = [...files.filter(({ isSpec }) => !isSpec).map((file) => [file]), ...(specs.length > 0 ? [specs] : [])];
  const opening: Promise<Opened>[] = [];
  try {
    for (const [at, group] of groups.entries()) {
      for (const next of groups.slice(at + opening.length, at + AHEAD)) opening.push(openAhead(next, options));
      const target = await opening[0]!;
      for (const file of group) for (const test of file.tests) results.push(await target.run(file, test));
      const served = at === groups.length - 1 && 'sandbox' in target ? target.sandbox.gateway.serving : null;
      if (served) {
        coverage = await coverageOf(
          served,
          files.flatMap(({ tests }) => tests),
        );
      }
      for (const refusal of target.refusals) refusals.add(refusal);
      opening.shift();
      await target.close();
    }
  } finally {
    for (const each of await Promise.allSettled(opening)) if (each.status === 'fulfilled') await each.value.close();
  }
  const order = new Map(files.map((file, at) => [file, at]));
  results.sort((one, other) => order.get(one.file)! - order.get(other.file)!);
  return { results, refusals: [...refusals], coverage, ms: performance.now() - startedAt };
}

type Opened = Target | Awaited<ReturnType<typeof openTarget>>;

/** Begins to open a target; a failure is reported when the result is awaited. */
function openAhead(files: readonly TestFile[], options: SuiteOptions): Promise<Opened> {
  const opened = open(files, options);
  opened.catch(() => {});
  return opened;
}

async function open(
  files: readonly TestFile[],
  { catalogue, source, against, ...options }: SuiteOptions,
): Promise<Opened> {
  return against ? targetAt(against) : openTarget(catalogue, source, files, options);
}
