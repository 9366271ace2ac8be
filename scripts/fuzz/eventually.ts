import { afterPatience } from './patience.ts';

/** Maximum time to wait for a condition, in milliseconds. */
export const PATIENCE_MS = 5_000;

/** Waits until a condition holds. @throws Error with `message` on timeout. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  message: () => string,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  let isLate = false;
  const done = afterPatience(patienceMs, () => {
    isLate = true;
  });
  try {
    while (!(await holds())) {
      if (isLate) throw new Error(message());
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  } finally {
    done();
  }
}
