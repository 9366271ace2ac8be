/** Longest wait for what must happen by itself, in milliseconds. */
export const PATIENCE_MS = 5_000;

/** Waits until a condition holds. @throws Error with `message` where it does not in time. */
export async function eventually(
  holds: () => boolean,
  message: () => string,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const since = performance.now();
  while (!holds()) {
    if (performance.now() > since + patienceMs) throw new Error(message());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
