import fc from 'fast-check';
import { judge } from './judge.ts';
import { keepStrays } from './strays.ts';
import type { OpenTarget, Target } from './target.ts';

/** Result of a campaign. */
export interface CampaignReport {
  readonly executions: number;
  /** Smallest input found that violates the law; null when none was found. */
  readonly find: { readonly input: unknown; readonly message: string } | null;
  /** Growth of the heap from the first tenth of the campaign to its end, in bytes. */
  readonly grownBytes: number;
}

export interface CampaignOptions {
  /** In milliseconds. */
  readonly limitMs: number;
  readonly seed: number;
}

/** Number of inputs between checks of the time and the heap. */
const BATCH = 200;
/** Maximum time for shrinking a find, in milliseconds. */
const SHRINKING_MS = 60_000;
/** Heap growth beyond which a campaign fails, in bytes. */
const GROWTH_BYTES = 128 * 1024 * 1024;

/** Runs a target with random inputs until the time is up or an input fails, which is then shrunk. */
export async function runCampaign(target: Target, { limitMs, seed }: CampaignOptions): Promise<CampaignReport> {
  const end = performance.now() + limitMs;
  const undo = keepStrays();
  const open = await target.open();
  let executions = 0;
  let base: number | null = null;
  try {
    for (let batch = 0; ; batch++) {
      const result = await tryBatch(target, open, seed + batch, end);
      executions += result.executions;
      if (result.failed && result.counterexample) {
        const message = String((result.errorInstance as Error | null)?.message ?? 'failed');
        return { executions, find: { input: result.counterexample[0], message }, grownBytes: 0 };
      }
      const now = performance.now();
      if (base === null && now > end - limitMs * 0.9) base = heapBytes();
      if (now < end) continue;
      const grownBytes = base === null ? 0 : heapBytes() - base;
      const isGrown = grownBytes > GROWTH_BYTES && globalThis.gc !== undefined;
      return {
        executions,
        grownBytes,
        find: isGrown ? { input: null, message: `the heap grew by ${grownBytes} bytes` } : null,
      };
    }
  } finally {
    await open.close();
    undo();
  }
}

/** @param end time after which no further input is started; a find is still shrunk. */
async function tryBatch(target: Target, open: OpenTarget, seed: number, end: number) {
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
  });
  const result = await fc.check(property, { seed, numRuns: BATCH, endOnFailure: false });
  return { ...result, executions };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
