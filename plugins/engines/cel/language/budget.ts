import { cpuUsage } from '../../../shared/calls/cpu-usage.ts';

/** Limits of one evaluation. */
export interface Budget {
  /** Number of list and object members visited. */
  readonly steps: number;
  /** CPU time, in milliseconds. */
  readonly cpuMs: number;
}

const usual: Budget = { steps: 50_000, cpuMs: 100 };

/** Number of steps between two checks of the clocks. */
const STEPS_A_LOOK = 64;

/** The evaluation has exceeded its budget. */
class BudgetExceeded extends Error {}

let budget = usual;
let left = 0;
let nextLook = 0;
let deadline = 0;
let usedBefore: NodeJS.CpuUsage | null = null;
let exceeded: string | null = null;

/**
 * Runs a synchronous evaluation within its budget. An operator may catch the error of an operand, but an exceeded
 * budget fails the evaluation nevertheless.
 * @param limitMs time limit, in milliseconds.
 * @returns why it was aborted; null when it completed.
 */
export function bounded(limitMs: number, run: () => void, given = usual): string | null {
  budget = given;
  left = budget.steps;
  nextLook = budget.steps;
  deadline = performance.now() + limitMs;
  usedBefore = null;
  exceeded = null;
  run();
  return exceeded;
}

/** Counts loop iterations and visited members. @throws BudgetExceeded, and again on every later call. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) stop(`more than ${budget.steps} members were visited`);
  if (left > nextLook) return;
  nextLook = left - STEPS_A_LOOK;
  lookAtClocks();
}

function lookAtClocks(): void {
  if (performance.now() > deadline) stop('the evaluation took too long');
  if (usedBefore === null) usedBefore = cpuUsage();
  else if (cpuUsage(usedBefore).user > budget.cpuMs * 1000) stop('the evaluation took too long');
}

function stop(why: string): never {
  exceeded ??= why;
  left = -1;
  throw new BudgetExceeded(why);
}
