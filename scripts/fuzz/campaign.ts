import fc from 'fast-check';
import { BlockCoverage, isMeasured } from './block-coverage.ts';
import { Guide } from './guide.ts';
import { bounded, judge } from './judge.ts';
import { keepStrays } from './strays.ts';
import type { OpenTarget, Target } from './target.ts';

/** Result of a campaign. */
export interface CampaignReport {
  readonly executions: number;
  /** Smallest input found that violates the law; null when none was found. */
  readonly find: { readonly input: unknown; readonly message: string } | null;
  /** Growth of the heap from the first tenth of the campaign to its end, in bytes. */
  readonly grownBytes: number;
  /** Numbers of executed blocks in the code under test; null when they are not measured. */
  readonly blocks: { readonly before: number; readonly after: number; readonly total: number } | null;
  /** Number of inputs kept because they reached blocks of code that no earlier input had reached. */
  readonly kept: number;
}

export interface CampaignOptions {
  /** Duration of the campaign, in milliseconds. */
  readonly limitMs: number;
  /** Maximum number of inputs. Default: unlimited. */
  readonly maxExecutions?: number;
  readonly seed: number;
}

/** Number of inputs between checks of the time and the heap. */
const BATCH = 200;
/** Maximum time for shrinking an input that violates the law, in milliseconds. */
const SHRINKING_MS = 60_000;
/** Heap growth beyond which a campaign fails, in bytes. */
const GROWTH_BYTES = 128 * 1024 * 1024;

/** Factor by which the counters of blocks slow down code, rounded up. */
const COUNTING = 4;

/** Runs a target with random inputs until the time is up or an input fails, which is then shrunk. */
export async function runCampaign(
  given: Target,
  { limitMs, maxExecutions = Number.POSITIVE_INFINITY, seed }: CampaignOptions,
): Promise<CampaignReport> {
  const undo = keepStrays();
  const open = await given.open();
  const guide = isMeasured() && given.isGuided ? new Guide(given.inputs, given.rooms) : null;
  const coverage = guide?.coverage ?? (isMeasured() ? new BlockCoverage(given.rooms) : null);
  const before = coverage?.covered ?? 0;
  const target = coverage ? { ...given, inputs: guide ?? given.inputs, boundMs: given.boundMs * COUNTING } : given;
  const end = performance.now() + limitMs;
  let executions = 0;
  let base: number | null = null;
  const report = (grownBytes: number, find: CampaignReport['find']): CampaignReport => {
    coverage?.add(coverage.take());
    const blocks = coverage && { before, after: coverage.covered, total: coverage.total };
    return { executions, grownBytes, find, blocks, kept: guide?.kept ?? 0 };
  };
  try {
    for (let batch = 0; ; batch++) {
      const limits = { seed: seed + batch, end, count: Math.min(BATCH, maxExecutions - executions) };
      const result = await tryBatch(target, open, limits, () => guide?.executed());
      executions += result.executions;
      if (result.failed && result.counterexample) {
        const message = String((result.errorInstance as Error | null)?.message ?? 'failed');
        return report(0, { input: result.counterexample[0], message });
      }
      const now = performance.now();
      if (base === null && now > end - limitMs * 0.9) base = heapBytes();
      if (now < end && executions < maxExecutions) continue;
      const grownBytes = base === null ? 0 : heapBytes() - base;
      const isGrown = grownBytes > GROWTH_BYTES && globalThis.gc !== undefined;
      return report(grownBytes, isGrown ? { input: null, message: `the heap grew by ${grownBytes} bytes` } : null);
    }
  } finally {
    await bounded(open.close());
    undo();
  }
}

interface BatchLimits {
  readonly seed: number;
  /** Time after which no further input is started; an input that violates the law is still shrunk. */
  readonly end: number;
  readonly count: number;
}

/** @param executed called after each input that does not fail. */
async function tryBatch(target: Target, open: OpenTarget, { seed, end, count }: BatchLimits, executed: () => void) {
  let executions = 0;
  let until = end;
  const property = fc.asyncProperty(target.inputs, async (input) => {
    if (performance.now() >= until) return;
    executions += 1;
    try {
      await judge(target, open, input);
    } catch (error) {
      if (until === end) until = performance.now() + SHRINKING_MS;
      throw error;
    }
    executed();
  });
  const result = await fc.check(property, { seed, numRuns: count, endOnFailure: false });
  return { ...result, executions };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
