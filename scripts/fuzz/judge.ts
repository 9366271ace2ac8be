import { takeStrays } from './strays.ts';
import type { OpenTarget, Target } from './target.ts';

/** An input without an end after this time is a find, in milliseconds. */
const HANG_MS = 30_000;

/** An input for which the law of its target does not hold. */
export class Find extends Error {
  override readonly name = 'Find';
}

/**
 * Gives an input to a target. Time is the processor time of this thread, so other load on the machine changes no verdict; an
 * input that takes too long gets a second try, by then compiled and with its caches filled.
 * @throws Find with what is wrong.
 */
export async function judge(target: Target, open: OpenTarget, input: unknown): Promise<void> {
  const first = await timed(open, input);
  if (first <= target.boundMs) return;
  const second = await timed(open, input);
  if (second > target.boundMs)
    throw new Find(`takes ${Math.round(second)} ms of processor time: ${target.boundMs} at most`);
}

async function timed(open: OpenTarget, input: unknown): Promise<number> {
  const before = cpuMs();
  try {
    await bounded(open.accept(input));
    const [stray] = takeStrays();
    if (stray !== undefined) throw stray;
  } catch (error) {
    throw new Find(error instanceof Error ? (error.stack ?? error.message) : String(error), { cause: error });
  }
  return cpuMs() - before;
}

/** @throws Error where an input takes far longer than any waits. */
function bounded(accepted: void | Promise<void>): void | Promise<void> {
  if (!accepted) return;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`hangs: no end within ${HANG_MS} ms`)), HANG_MS);
    accepted.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const usage = (process.threadCpuUsage ?? process.cpuUsage).bind(process);

function cpuMs(): number {
  const { user, system } = usage();
  return (user + system) / 1000;
}
