/** What one evaluation may take. */
export interface Budget {
  /** Members of lists and objects looked at. */
  readonly steps: number;
  /** Milliseconds of the processor. */
  readonly cpuMs: number;
}

const usual: Budget = { steps: 50_000, cpuMs: 100 };

/** Steps between two looks at the clocks. */
const STEPS_A_LOOK = 64;

/** Of this thread where the runtime knows it: what else the machine does is no fault of an expression. */
const cpuUsage = (process.threadCpuUsage ?? process.cpuUsage).bind(process);

/** An evaluation took more than it may. */
class BudgetExceeded extends Error {}

let budget = usual;
let left = 0;
let nextLook = 0;
let deadline = 0;
let usedBefore: NodeJS.CpuUsage | null = null;
let exceeded: string | null = null;

/**
 * Runs an evaluation, which is synchronous, within its bounds. An operator may swallow the error of an operand: what was
 * exceeded fails the evaluation all the same.
 * @param limitMs longest time in milliseconds.
 * @returns why it was ended; null when it came to its own end.
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

/** Counts turns of loops, and members that are looked at. @throws BudgetExceeded, from then on every time. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) stop(`more than ${budget.steps} members were visited`);
  if (left > nextLook) return;
  nextLook = left - STEPS_A_LOOK;
  lookAtClocks();
}

function lookAtClocks(): void {
  if (performance.now() > deadline) stop('it took too long');
  if (usedBefore === null) usedBefore = cpuUsage();
  else if (cpuUsage(usedBefore).user > budget.cpuMs * 1000) stop('it took too long');
}

function stop(why: string): never {
  exceeded ??= why;
  left = -1;
  throw new BudgetExceeded(why);
}
