import { afterPatience } from './patience.ts';
import { takeStrays } from './strays.ts';
import type { OpenTarget, Target } from './target.ts';

/** Time after which an input that has not completed violates the law of its target, in milliseconds. */
const HANG_MS = 30_000;

/** Error for an input that violates the law of its target. */
export class Find extends Error {
  override readonly name = 'Find';
}

/**
 * Runs an input on a target. Measures CPU time of this thread, so that other load on the machine does not affect the
 * result; an input that takes too long is retried, by then with compiled code and warm caches.
 * @throws Find with the violation.
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

/** @throws Error when an input, or the end of a run, takes far longer than any timeout. */
export function bounded(accepted: void | Promise<void>): void | Promise<void> {
  if (!accepted) return;
  return new Promise((resolve, reject) => {
    const done = afterPatience(HANG_MS, () => reject(new Error(`hangs: no end within ${HANG_MS} ms`)));
    accepted.then(resolve, reject).finally(done);
  });
}

const usage = (process.threadCpuUsage ?? process.cpuUsage).bind(process);

function cpuMs(): number {
  const { user, system } = usage();
  return (user + system) / 1000;
}
